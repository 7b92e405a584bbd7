// Package metrics makes Prometheus metrics from pictures that others give. No
// hot path counts in Prometheus' own types.
package metrics
