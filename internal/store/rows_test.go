package store

import "testing"

// A part of a job that a server before v0.3 stored has no program in its activity.
func TestRowsOfOlderServersHaveNoProgram(t *testing.T) {
	t.Parallel()
	r, err := decodeRows([]byte(`{"activity":
		[["brd_1", 1, "act_1", "card.created", 5, "person", "usr_1", null, null, "{}", null, "quiet"]]}`))
	if err != nil {
		t.Fatal(err)
	}
	if entry := r.Activity[0]; len(entry) != 13 || entry[12] != nil || entry[11] != "quiet" {
		t.Errorf("got the entry %v, want a 13th value that is null", entry)
	}
}
