package statusview

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/outbox-cdc/outbox-cdc/internal/httpapi"
)

// Show writes the status for a person.
func Show(w io.Writer, s *httpapi.Status, now time.Time) error {
	var b strings.Builder
	ready := "ready"
	if !s.Ready {
		ready = "not ready"
	}
	fmt.Fprintf(&b, "%s (outbox-cdc %s): %s for %s, %s\n", s.Name, s.Version, s.State, ago(s.Since, now), ready)
	if s.Reason != "" {
		fmt.Fprintf(&b, "  why     %s\n", s.Reason)
	}
	if s.Remedy != "" {
		fmt.Fprintf(&b, "  remedy  %s\n", s.Remedy)
	}
	for _, h := range s.Halted {
		fmt.Fprintf(&b, "  event   %q at %s, route %q, %s for %s: %s\n", h.EventID, h.Position, h.Route, h.Reason, ago(h.Since, now), h.Error)
	}
	t := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	row := func(format string, args ...any) { _, _ = fmt.Fprintf(t, format+"\n", args...) } // what fails, Flush tells
	slot := s.Slot
	row("slot\t%s\tconfirmed %s", slot.Name, slot.ConfirmedLSN)
	if slot.ReadAt == nil {
		row("\t\tnot looked at yet")
	} else {
		row("\t\t%s behind, %s of WAL retained (%s), as of %s ago", bytes(slot.LagBytes), bytes(slot.RetainedBytes), slot.WALStatus, ago(*slot.ReadAt, now))
	}
	row("stream\ttimeline %d\t%d events in flight, %s", s.Stream.Timeline, s.Stream.InFlightEvents, bytes(s.Stream.InFlightBytes))
	for i, r := range s.Routes {
		title, halted := "", ""
		if i == 0 {
			title = "routes"
		}
		if r.Halted {
			halted = ", HALTED"
		}
		row("%s\t%s\t%d delivered since start%s", title, r.Name, r.Delivered, halted)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// ago is a time span in two units at most.
func ago(t, now time.Time) string {
	d := max(now.Sub(t), 0)
	switch {
	case d < time.Minute:
		return d.Truncate(time.Second).String()
	case d < time.Hour:
		return fmt.Sprintf("%dm%ds", int(d.Minutes()), int(d.Seconds())%60)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh%dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%dd%dh", int(d.Hours())/24, int(d.Hours())%24)
}

// bytes is a size in the largest unit that leaves three digits or less.
func bytes(n int64) string {
	if n < 1<<10 {
		return strconv.FormatInt(n, 10) + " B"
	}
	v, unit := float64(n), ""
	for _, unit = range []string{"KiB", "MiB", "GiB", "TiB", "PiB"} {
		if v /= 1 << 10; v < 1000 {
			break
		}
	}
	return strconv.FormatFloat(v, 'f', 1, 64) + " " + unit
}
