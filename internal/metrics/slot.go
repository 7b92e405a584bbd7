package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/outbox-cdc/outbox-cdc/internal/monitor"
)

// slotCollector shows what the monitor has seen. What is not known has no value
// at all, rather than a wrong one.
type slotCollector struct {
	watched func() *monitor.View

	lag, retained, limit, safe, growth, timeLeft *prometheus.Desc
	active, walStatus, lastSuccess               *prometheus.Desc
}

func newSlotCollector(watched func() *monitor.View, l Labels) *slotCollector {
	constant := prometheus.Labels{"source": l.Source, "slot": l.Slot}
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("outbox_cdc_"+name, help, labels, constant)
	}
	return &slotCollector{
		watched:     watched,
		lag:         desc("slot_confirmed_lag_bytes", "WAL that was written and is not confirmed."),
		retained:    desc("slot_retained_wal_bytes", "WAL that the server keeps for the slot."),
		limit:       desc("slot_wal_limit_bytes", "Retained WAL that can be borne: WAL_LIMIT, else max_slot_wal_keep_size. Absent where neither is set."),
		safe:        desc("slot_safe_wal_bytes", "WAL that may be written before the slot is in danger. Absent where the server sets no limit."),
		growth:      desc("slot_wal_growth_bytes_per_second", "Growth of retained WAL over ten minutes. Absent until they have passed."),
		timeLeft:    desc("slot_wal_time_left_seconds", "Time until retained WAL reaches the limit at this growth. Absent while it does not grow, or where no limit is set."),
		active:      desc("slot_active", "1 while a process uses the slot."),
		walStatus:   desc("slot_wal_status", "1 for the slot's wal_status, else 0; gone: there is no such slot.", "wal_status"),
		lastSuccess: desc("monitor_last_success_timestamp_seconds", "When the slot was looked at last. Absent before the first look."),
	}
}

// Describe implements prometheus.Collector.
func (c *slotCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{c.lag, c.retained, c.limit, c.safe, c.growth, c.timeLeft, c.active, c.walStatus, c.lastSuccess} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (c *slotCollector) Collect(ch chan<- prometheus.Metric) {
	v := c.watched()
	if v == nil {
		return
	}
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	gauge(c.lastSuccess, float64(v.At.UnixMilli())/1000)
	for _, s := range monitor.WALStatuses() {
		gauge(c.walStatus, one(s == v.WALStatus()), s)
	}
	gauge(c.active, one(v.Slot != nil && v.Slot.Active))
	gauge(c.lag, float64(v.Lag()))
	gauge(c.retained, float64(v.Retained()))
	if v.WALLimit > 0 {
		gauge(c.limit, float64(v.WALLimit))
	}
	if v.SafeWAL >= 0 {
		gauge(c.safe, float64(v.SafeWAL))
	}
	if v.GrowthKnown {
		gauge(c.growth, v.Growth)
	}
	if left, ok := v.TimeLeft(); ok {
		gauge(c.timeLeft, left.Seconds())
	}
}
