// Package histogram counts durations and returns their quantiles.
package histogram

import (
	"math/bits"
	"time"
)

// mantissaBits limits the width of a bucket to 1/128 of its value.
const mantissaBits = 7

// Histogram counts durations in buckets whose width grows with the value, so that a quantile is less than one percent
// off and counting costs one addition. Each client has its own; they are merged at the end.
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

// Merge adds the durations of another histogram.
func (h *Histogram) Merge(other *Histogram) {
	for i, n := range other.buckets {
		h.buckets[i] += n
	}
	h.Count += other.Count
	h.Max = max(h.Max, other.Max)
}

// Quantile returns the duration that the fraction q of all durations does not exceed, or 0 if there are none.
func (h *Histogram) Quantile(q float64) time.Duration {
	rank := int(q * float64(h.Count))
	seen := 0
	for i, n := range h.buckets {
		seen += int(n)
		if n > 0 && seen > rank {
			return min(time.Duration(bucketEnd(i)), h.Max)
		}
	}
	return h.Max
}

// bucketOf returns the bucket of a value. Each value below 2·2^mantissaBits has its own bucket; from there on, every
// doubling has 2^mantissaBits buckets.
func bucketOf(v uint64) int {
	shift := max(bits.Len64(v)-mantissaBits-1, 0)
	return shift<<mantissaBits + int(v>>shift)
}

// bucketEnd returns the greatest value of a bucket.
func bucketEnd(i int) uint64 {
	shift := max(i>>mantissaBits-1, 0)
	return (uint64(i-shift<<mantissaBits)+1)<<shift - 1
}
