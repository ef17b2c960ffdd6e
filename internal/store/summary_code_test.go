package store

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"cardwall/internal/board"
)

// Decoding an encoded summary returns the same summary. Truncated summaries are rejected,
// and damaged ones do not cause a panic.
func TestSummaryCode(t *testing.T) {
	t.Parallel()
	limit := 3
	s := Summary{
		CountedAt: 1_772_000_000_000, Unassigned: 4,
		Lists: []ListSummary{{"lst_1", "To do", &limit, "soft", DueCounts{1, 2, 3, 20260101, []DayCount{{20260301, 2}, {20260412, 1}},
			[]board.Instant{1_771_999_000_000, 1_772_100_000_000}}}, {ID: "lst_2", Name: ""}},
		People:    []PersonSummary{{"usr_1", []board.Instant{1_771_000_000_000}, DueCounts{Undated: 7}}},
		Labels:    []LabelSummary{{"Bug", "red", DueCounts{Done: 300}}},
		Oldest:    []OldCard{{1_700_000_000_000, "crd_1"}},
		LongStale: 9, Updated: []board.Instant{5, 5, 70}, Created: []board.Instant{-3, 8},
		Finished: []FinishedCard{{1_771_000_000_000, 86_400_000, -1}, {1_771_000_000_001, 0, 5}},
	}
	counts, people := s.encode()
	back, err := decodeSummary(counts, people)
	if err != nil {
		t.Fatal(err)
	}
	if c, p := back.encode(); !bytes.Equal(c, counts) || !bytes.Equal(p, people) || back.Lists[0].Cards() != 11 ||
		*back.Lists[0].WIPLimit != 3 {
		t.Fatalf("got summary %+v, want %+v", back, s)
	}
	if p, err := findPerson(people, "usr_1"); err != nil || p.Undated != 7 {
		t.Errorf("got person %v (%v), want one with 7 undated cards", p, err)
	}
	for n := range counts {
		if _, err := decodeSummary(counts[:n], people); err == nil {
			t.Errorf("got no error for the first %d bytes, want one", n)
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		broken := bytes.Clone(counts)
		for range rapid.IntRange(1, 4).Draw(rt, "changes") {
			broken[rapid.IntRange(0, len(broken)-1).Draw(rt, "at")] = rapid.Byte().Draw(rt, "byte")
		}
		_, _ = decodeSummary(broken, broken)
	})
}
