package document

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
)

// The document contains what its counts say, is the same each time, and has matches for every report.
func TestDocument(t *testing.T) {
	const boards = 3
	now := time.Date(2026, 3, 31, 12, 0, 0, 0, time.UTC)
	write := func(part int) []byte {
		var out bytes.Buffer
		if err := WriteWorkspace(&out, "usr_ada", part, boards, now); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	text := write(0)
	if !bytes.Equal(text, write(0)) || bytes.Equal(text, write(1)) {
		t.Error("the first document differs between runs, or equals the second")
	}
	var doc struct {
		Boards   []Board `json:"boards"`
		Counts   Counts  `json:"counts"`
		Complete bool    `json:"complete"`
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	var sum Counts
	sum.Boards = len(doc.Boards)
	var rare, medium, common, done, due, assigned, mine int
	for _, b := range doc.Boards {
		if !b.Complete || b.BoardVersion != len(b.Activity) || b.Activity[len(b.Activity)-1].BoardVersion != b.BoardVersion {
			t.Errorf("board %q: complete %v, version %d, %d entries", b.Board.Name, b.Complete, b.BoardVersion, len(b.Activity))
		}
		sum.Users += len(b.Users)
		sum.Labels += len(b.Labels)
		sum.Lists += len(b.Lists)
		sum.Cards += len(b.Cards)
		sum.Activity += len(b.Activity)
		for _, c := range b.Cards {
			rare += strings.Count(c.Description, "qu")
			medium += strings.Count(c.Description, MediumWord)
			common += strings.Count(c.Description, CommonWord)
			if c.DoneAt != nil {
				done++
			}
			if c.DueDate != nil {
				due++
			}
			assigned += len(c.Assignees)
			if strings.Contains(strings.Join(c.Assignees, " "), "usr_ada") {
				mine++
			}
			if c.CreatedAt > c.UpdatedAt || c.UpdatedAt > now.Format(InstantLayout) || c.StartDate != nil && *c.StartDate > *c.DueDate {
				t.Fatalf("the times of card %d are out of order: %+v", c.Number, c)
			}
		}
	}
	if sum != doc.Counts || sum.Boards != boards || sum.Cards != boards*Cards || !doc.Complete {
		t.Errorf("the document contains %+v but its counts are %+v, complete %v", sum, doc.Counts, doc.Complete)
	}
	if rare != boards || medium != 55 || common != boards*Cards/CommonEvery {
		t.Errorf("the rare words occur %d times, the medium one %d, the common one %d", rare, medium, common)
	}
	for what, n := range map[string]int{"done": done * 3, "due": due * 3 / 2, "assigned": assigned * 6 / 5, "mine": mine * 24} {
		if n < 2000 || n > 4000 {
			t.Errorf("%s: extrapolated to %d cards, want about 3,000", what, n)
		}
	}
}
