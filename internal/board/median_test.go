package board

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestMedianOf(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		all := rapid.SliceOfN(rapid.OneOf(rapid.Int64Range(0, 20), rapid.Int64Range(0, 1e12)), 1, 200).Draw(rt, "all")
		sorted := slices.Sorted(slices.Values(all))
		want := (sorted[(len(all)-1)/2] + sorted[len(all)/2]) / 2000
		if got := MedianOf(all); got.Cards != len(all) || *got.MedianSeconds != want {
			rt.Errorf("median of %v: got %d seconds for %d cards, want %d for %d", all, *got.MedianSeconds, got.Cards, want, len(all))
		}
	})
}
