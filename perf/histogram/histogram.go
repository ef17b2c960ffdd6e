// Package histogram counts durations and computes quantiles.
package histogram

import (
	"math/bits"
	"time"
)

// mantissaBits limits the width of a bucket to 1/128 of the values in it.
const mantissaBits = 7

// Histogram counts durations in buckets whose width grows with the value. Adding a duration is cheap, and the error of
// a quantile is less than one percent. Clients use separate histograms, which are merged at the end.
type Histogram struct {
	Count int
	Max   time.Duration

	buckets [(64 - mantissaBits + 1) << mantissaBits]uint32
}

// Add counts a duration.
func (h *Histogram) Add(d time.Duration) {
	h.buckets[bucketOf(uint64(max(d, 0)))]++
	h.Count++
	h.Max = max(h.Max, d)
}

// Merge adds the durations of another histogram to h.
func (h *Histogram) Merge(other *Histogram) {
	for i, n := range other.buckets {
		h.buckets[i] += n
	}
	h.Count += other.Count
	h.Max = max(h.Max, other.Max)
}

// Quantile returns the q-quantile of the durations, with q from 0 to 1. It returns 0 if the histogram is empty.
func (h *Histogram) Quantile(q float64) time.Duration {
	rank := int(q * float64(h.Count))
	count := 0
	for i, n := range h.buckets {
		count += int(n)
		if n > 0 && count > rank {
			return min(time.Duration(bucketEnd(i)), h.Max)
		}
	}
	return h.Max
}

// bucketOf returns the index of the bucket for v. Each value below 2·2^mantissaBits has its own bucket. From there on,
// each power of two has 2^mantissaBits buckets.
func bucketOf(v uint64) int {
	shift := max(bits.Len64(v)-mantissaBits-1, 0)
	return shift<<mantissaBits + int(v>>shift)
}

// bucketEnd returns the greatest value in bucket i.
func bucketEnd(i int) uint64 {
	shift := max(i>>mantissaBits-1, 0)
	return (uint64(i-shift<<mantissaBits)+1)<<shift - 1
}
