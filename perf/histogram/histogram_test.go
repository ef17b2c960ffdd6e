package histogram

import (
	"testing"
	"time"
)

func TestHistogramQuantiles(t *testing.T) {
	var odd, even, all Histogram
	for i := 1; i <= 10_000; i++ {
		h := &even
		if i%2 == 1 {
			h = &odd
		}
		h.Add(time.Duration(i) * time.Microsecond)
	}
	all.Merge(&odd)
	all.Merge(&even)
	for q, want := range map[float64]time.Duration{0.5: 5000, 0.95: 9500, 0.99: 9900, 1: 10_000} {
		want *= time.Microsecond
		if got := all.Quantile(q); got < want || got > want+want/100 {
			t.Errorf("Quantile(%v) = %v, want %[3]v or up to one percent more", q, got, want)
		}
	}
	if all.Count != 10_000 || all.Max != 10*time.Millisecond {
		t.Errorf("got count %d and maximum %v, want 10,000 and 10 ms", all.Count, all.Max)
	}
	if got := new(Histogram).Quantile(0.5); got != 0 {
		t.Errorf("the quantile of an empty histogram is %v, want 0", got)
	}
}

// Every value, up to the longest duration, is in the first bucket that does not end before it.
func TestHistogramBuckets(t *testing.T) {
	for _, v := range []uint64{0, 1, 127, 128, 255, 256, 257, 511, 512, 1 << 20, 1<<40 + 12345, 1<<63 - 1} {
		i := bucketOf(v)
		if end := bucketEnd(i); end < v || end-v > v/128 {
			t.Errorf("value %d is in bucket %d, which ends at %d; want an end of at least the value and at most 1/128 more", v, i, end)
		}
		if i > 0 && bucketEnd(i-1) >= v {
			t.Errorf("value %d is in bucket %d, want bucket %d or an earlier one", v, i, i-1)
		}
	}
	if i := bucketOf(1<<63 - 1); i >= len(Histogram{}.buckets) {
		t.Errorf("the longest duration is in bucket %d, which does not exist", i)
	}
}
