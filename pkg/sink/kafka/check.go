package kafka

import "context"

// Check implements sink.Checker: whether each topic exists, may be written to
// and can take records with acks=all. With Config.Create it creates
// the missing ones. What it learns is used by Send. It asks
// once, within Config.RequestTimeout and ctx; brokers that are away give a
// Retriable error for each topic.
func (s *Sink) Check(ctx context.Context, destinations []string) []error {
	errs := make([]error, len(destinations))
	for i, a := range s.provide(ctx, destinations) {
		if a.err != nil {
			errs[i] = a.err
			continue
		}
		s.topics.put(a.topic)
	}
	return errs
}
