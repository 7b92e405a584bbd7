package kafka

import (
	"context"
	"errors"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

// forbidden tells whether the brokers let us be an idempotent producer, once a
// client. A client that has begun to produce would fail all it holds instead,
// and the next one again. Only the very refusal counts here; whatever else is
// wrong shows with the first record.
func (s *Sink) forbidden(ctx context.Context) *sink.Error {
	p := s.producer.Load()
	if p.permitted.Load() {
		return nil
	}
	req := kmsg.NewPtrInitProducerIDRequest()
	req.ProducerID, req.ProducerEpoch = -1, -1
	resp, err := req.RequestWith(ctx, p.client)
	if err != nil {
		return nil //nolint:nilerr // it will fail for the lookup as well
	}
	switch err := kerr.ErrorForCode(resp.ErrorCode); {
	case err == nil:
		p.permitted.Store(true)
	case errors.Is(err, kerr.ClusterAuthorizationFailed):
		return verdictOf(resp.ErrorCode).error("", sink.ScopeBatch, err)
	}
	return nil
}
