package kafka

import (
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

// message is a client's record with the sink's record that it stands for.
// Messages are used again and their promise is bound once, so that a record
// costs no allocation of ours.
type message struct {
	kafka   kgo.Record
	record  *sink.Record
	size    int
	sink    *Sink
	promise func(*kgo.Record, error)
}

func (s *Sink) newMessage() *message {
	m := &message{sink: s}
	m.promise = m.done
	return m
}

// fill points the client's record to the bytes of r. Nil stays nil and empty
// stays empty: to Kafka they are null and a key or value of length 0.
func (m *message) fill(r *sink.Record, size int) {
	m.record, m.size = r, size
	m.kafka.Topic = r.Destination
	m.kafka.Key = r.Key
	m.kafka.Value = r.Value
	m.kafka.Timestamp = r.Time
	m.kafka.Headers = sharedHeaders(r.Headers)
}

// done is the promise: the client calls it once a record, one after the other,
// and does not look at the record again. It lets go of every byte of the record
// before its owner gets it back.
func (m *message) done(_ *kgo.Record, err error) {
	s, r, size := m.sink, m.record, m.size
	m.record = nil
	m.kafka.Key, m.kafka.Value, m.kafka.Headers = nil, nil, nil
	var result error
	if err != nil {
		e := failed(r.Destination, err)
		// The first one says why, whatever else the records get that share
		// its fate.
		if why := s.failure.Load(); !s.told.Swap(true) && why != nil && e.Reason == reasonClosed {
			first := *why
			first.Destination, e = r.Destination, &first
		}
		s.fail(e)
		result = e
	}
	s.results(r, result)
	s.window.leave(m, size)
}
