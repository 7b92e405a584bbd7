package metrics

import (
	"runtime"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/outbox-cdc/outbox-cdc/internal/monitor"
	"github.com/outbox-cdc/outbox-cdc/internal/pipeline"
)

// Source gives the pictures.
type Source interface {
	Status() pipeline.Status
	Totals() pipeline.Totals
}

// Labels are the constant labels of every metric.
type Labels struct{ Source, Slot string }

// Build is what build_info says.
type Build struct{ Version, Revision string }

// Register adds every metric of the connector, and those of the process.
// watched gives what the monitor has seen last; nil before its first look.
func Register(r prometheus.Registerer, src Source, watched func() *monitor.View, l Labels, b Build) error {
	all := []prometheus.Collector{
		newCollector(src, l, b),
		newSlotCollector(watched, l),
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	}
	for _, c := range all {
		if err := r.Register(c); err != nil {
			return err
		}
	}
	return nil
}

type collector struct {
	src   Source
	build []string

	info, state, ready                          *prometheus.Desc
	rows, transactions, events, bytes, sessions *prometheus.Desc
	inFlightEvents, inFlightBytes, backpressure *prometheus.Desc
	routeHalted                                 *prometheus.Desc
}

func newCollector(src Source, l Labels, b Build) *collector {
	constant := prometheus.Labels{"source": l.Source, "slot": l.Slot}
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("outbox_cdc_"+name, help, labels, constant)
	}
	return &collector{
		src: src, build: []string{b.Version, b.Revision, runtime.Version()},
		info:           desc("build_info", "Version of this binary; always 1.", "version", "revision", "goversion"),
		state:          desc("state", "1 for the state that the connector is in, else 0.", "state"),
		ready:          desc("ready", "1 while /readyz answers 200."),
		rows:           desc("rows_total", "Rows read from the stream, by kind: event, ignored_op (no INSERT), other_table (not configured).", "table", "kind"),
		transactions:   desc("transactions_total", "Transactions received whole."),
		events:         desc("events_total", "Events that came to their end, by result.", "route", "sink", "result"),
		bytes:          desc("event_bytes_total", "Bytes of the values that were stored.", "route"),
		sessions:       desc("sessions_total", "Replication sessions that have ended, by outcome.", "outcome"),
		routeHalted:    desc("route_halted", "1 while an event of the route can't be delivered.", "route"),
		inFlightEvents: desc("in_flight_events", "Records that count against MAX_IN_FLIGHT_EVENTS."),
		inFlightBytes:  desc("in_flight_bytes", "Bytes that count against MAX_IN_FLIGHT_BYTES."),
		backpressure:   desc("backpressure_seconds_total", "Time for which reading waited because the window was full."),
	}
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(ch chan<- *prometheus.Desc) { prometheus.DescribeByCollect(c, ch) }

// Collect implements prometheus.Collector.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	counter := func(d *prometheus.Desc, v int64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v), labels...)
	}
	st, n := c.src.Status(), c.src.Totals()
	gauge(c.info, 1, c.build...)
	for _, s := range pipeline.States() {
		gauge(c.state, one(s == st.State), string(s))
	}
	gauge(c.ready, one(st.Ready))
	for _, t := range n.Tables {
		counter(c.rows, t.N, t.Name, "event")
	}
	counter(c.rows, n.IgnoredOps, "", "ignored_op")
	counter(c.rows, n.OtherTable, "", "other_table")
	counter(c.transactions, n.Transactions)
	for _, s := range n.Sessions {
		counter(c.sessions, s.N, s.Name)
	}
	for _, r := range n.Routes {
		for _, s := range r.Delivered {
			counter(c.events, s.N, r.Name, s.Name, "delivered")
		}
		counter(c.events, r.Dropped, r.Name, "", "dropped")
		counter(c.events, r.Skipped, r.Name, "", "skipped")
		gauge(c.routeHalted, one(st.HaltedAt(r.Name)), r.Name)
		counter(c.bytes, r.Bytes, r.Name)
	}
	counter(c.events, n.Skipped, "", "", "skipped")
	gauge(c.routeHalted, one(st.HaltedAt("")), "")
	gauge(c.inFlightEvents, float64(st.InFlightRecords))
	gauge(c.inFlightBytes, float64(st.InFlightBytes))
	ch <- prometheus.MustNewConstMetric(c.backpressure, prometheus.CounterValue, st.Blocked.Seconds())
}

func one(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
