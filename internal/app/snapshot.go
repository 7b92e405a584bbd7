package app

import (
	"github.com/outbox-cdc/outbox-cdc/internal/config"
	"github.com/outbox-cdc/outbox-cdc/internal/httpapi"
	"github.com/outbox-cdc/outbox-cdc/internal/pipeline"
)

// Version says which build this is.
type Version struct{ Version, Revision string }

// snapshot makes the one picture that health and status show.
func snapshot(cfg *config.Config, v Version, p *pipeline.Pipeline) httpapi.Status {
	st := p.Status()
	s := httpapi.Status{
		Name: cfg.Name, Version: v.Version,
		State: string(st.State), Since: st.Since, Ready: st.Ready, Alive: st.Alive,
		Reason: st.Reason, Remedy: st.Remedy,
		Slot:   httpapi.Slot{Name: cfg.Slot, ConfirmedLSN: st.Confirmed},
		Stream: httpapi.Stream{InFlightEvents: st.InFlightRecords, InFlightBytes: st.InFlightBytes},
		Routes: []httpapi.Route{}, Halted: []httpapi.Halted{}, Alerts: []httpapi.Alert{},
	}
	if st.Session != nil {
		s.Stream.Timeline = st.Session.Timeline
	}
	for _, r := range p.Totals().Routes {
		route := httpapi.Route{Name: r.Name, Halted: st.Halted != nil && st.Halted.Route == r.Name}
		for _, d := range r.Delivered {
			route.Delivered += d.N
		}
		s.Routes = append(s.Routes, route)
	}
	if h := st.Halted; h != nil {
		s.Halted = append(s.Halted, httpapi.Halted(*h))
	}
	return s
}
