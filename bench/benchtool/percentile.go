package main

import (
	"math"
	"slices"
)

// spread sums up samples, in milliseconds.
type spread struct {
	Min  float64 `json:"min"`
	P50  float64 `json:"p50"`
	P95  float64 `json:"p95"`
	P99  float64 `json:"p99"`
	P999 float64 `json:"p999"`
	Max  float64 `json:"max"`
}

// spreadOf sorts the samples. No samples are an empty spread.
func spreadOf(samples []float64) spread {
	if len(samples) == 0 {
		return spread{}
	}
	slices.Sort(samples)
	return spread{
		Min: percentile(samples, 0), P50: percentile(samples, 0.5), P95: percentile(samples, 0.95),
		P99: percentile(samples, 0.99), P999: percentile(samples, 0.999), Max: percentile(samples, 1),
	}
}

// percentile is the smallest sample that at least the share p of all does not
// exceed (nearest rank). The samples are sorted and not empty.
func percentile(sorted []float64, p float64) float64 {
	rank := int(math.Ceil(p * float64(len(sorted))))
	return sorted[max(rank, 1)-1]
}

// median is the mean of the two in the middle where there are two. The samples
// are not empty; they are left as they are.
func median(samples []float64) float64 {
	sorted := slices.Sorted(slices.Values(samples))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}
