package main

import (
	"math/bits"
	"time"
)

// mantissaBits makes a bucket at most 1/128 of its value wide.
const mantissaBits = 7

// histogram counts durations in buckets whose width grows with the value, so that a quantile is less than one percent
// off and counting one is an addition. Each client has its own; they are merged at the end.
type histogram struct {
	buckets [(64 - mantissaBits + 1) << mantissaBits]uint32
	count   int
	max     time.Duration
}

func (h *histogram) add(d time.Duration) {
	h.buckets[bucketOf(uint64(max(d, 0)))]++
	h.count++
	h.max = max(h.max, d)
}

func (h *histogram) merge(other *histogram) {
	for i, n := range other.buckets {
		h.buckets[i] += n
	}
	h.count += other.count
	h.max = max(h.max, other.max)
}

// quantile answers the duration that the share q of all does not exceed, or 0 when there is none.
func (h *histogram) quantile(q float64) time.Duration {
	rank := int(q * float64(h.count))
	seen := 0
	for i, n := range h.buckets {
		seen += int(n)
		if n > 0 && seen > rank {
			return min(time.Duration(bucketEnd(i)), h.max)
		}
	}
	return h.max
}

// bucketOf: values below 2·2^mantissaBits have a bucket each; from there every doubling has 2^mantissaBits buckets.
func bucketOf(v uint64) int {
	shift := max(bits.Len64(v)-mantissaBits-1, 0)
	return shift<<mantissaBits + int(v>>shift)
}

// bucketEnd answers the greatest value of a bucket.
func bucketEnd(i int) uint64 {
	shift := max(i>>mantissaBits-1, 0)
	return (uint64(i-shift<<mantissaBits)+1)<<shift - 1
}
