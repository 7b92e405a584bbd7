package app

import (
	"github.com/outbox-cdc/outbox-cdc/internal/config"
	"github.com/outbox-cdc/outbox-cdc/internal/httpapi"
	"github.com/outbox-cdc/outbox-cdc/internal/monitor"
	"github.com/outbox-cdc/outbox-cdc/internal/pipeline"
	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// Version says which build this is.
type Version struct{ Version, Revision string }

// snapshot makes the one picture that health and status show.
func snapshot(cfg *config.Config, v Version, p *pipeline.Pipeline, watched *monitor.View) httpapi.Status {
	st := p.Status()
	s := httpapi.Status{
		Name: cfg.Name, Version: v.Version,
		State: string(st.State), Since: st.Since, Ready: st.Ready, Alive: st.Alive,
		Reason: st.Reason, Remedy: st.Remedy,
		Slot:   slotStatus(cfg.Slot, st.Confirmed, watched),
		Stream: httpapi.Stream{InFlightEvents: st.InFlightRecords, InFlightBytes: st.InFlightBytes},
		Routes: []httpapi.Route{}, Halted: []httpapi.Halted{}, Alerts: []httpapi.Alert{},
	}
	if st.Session != nil {
		s.Stream.Timeline = st.Session.Timeline
	}
	for _, r := range p.Totals().Routes {
		route := httpapi.Route{Name: r.Name, Halted: st.HaltedAt(r.Name)}
		for _, d := range r.Delivered {
			route.Delivered += d.N
		}
		s.Routes = append(s.Routes, route)
	}
	for _, h := range st.AllHalted {
		s.Halted = append(s.Halted, httpapi.Halted(h))
	}
	return s
}

// slotStatus joins what the stream knows and what the monitor has seen; nil
// before the monitor's first look.
func slotStatus(name string, confirmed decoder.LSN, v *monitor.View) httpapi.Slot {
	s := httpapi.Slot{Name: name, ConfirmedLSN: confirmed}
	if v == nil {
		return s
	}
	s.RetainedBytes, s.WALStatus, s.ReadAt = v.Retained(), v.WALStatus(), &v.At
	if v.Slot != nil {
		s.RestartLSN = v.Slot.Restart
		s.ConfirmedLSN = max(confirmed, v.Slot.ConfirmedFlush)
	}
	// The stream is ahead of what it has told the server.
	if v.Insert > s.ConfirmedLSN && s.ConfirmedLSN > 0 {
		s.LagBytes = int64(v.Insert - s.ConfirmedLSN) //nolint:gosec // G115: no WAL is that long
	}
	return s
}
