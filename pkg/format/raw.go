package format

import (
	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

// Raw is the format "raw": the value is the payload column, untouched, and all
// else are headers.
type Raw struct{ headers headers }

var _ Format = (*Raw)(nil)

// NewRaw makes the format.
func NewRaw(o Options) *Raw { return &Raw{newHeaders(o)} }

// Room implements Format: nothing is made beside the position.
func (f *Raw) Room(int) int { return 0 }

// Append implements Format.
func (f *Raw) Append(rec *sink.Record, ev *decoder.Event, buf []byte) ([]byte, error) {
	rec.Value = ev.Field(decoder.RolePayload)
	if rec.Value == nil {
		return buf, refuseNullPayload(ev)
	}
	return f.headers.append(rec, ev, buf)
}

func refuseNullPayload(ev *decoder.Event) error {
	return refuse(ev, ReasonNullPayload, "the payload is NULL", "mend the writer; this version delivers no null values")
}
