package document

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
)

// The document matches its counts, is the same in every run, and contains cards for every report.
func TestDocument(t *testing.T) {
	const boards = 3
	now := time.Date(2026, 3, 31, 12, 0, 0, 0, time.UTC)
	write := func(part int) []byte {
		var out bytes.Buffer
		g := NewGenerator("usr_ada", part, Cards, Cards, now)
		if err := g.WriteWorkspace(&out, part*boards, boards); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	text := write(0)
	if !bytes.Equal(text, write(0)) || bytes.Equal(text, write(1)) {
		t.Error("document 0 differs between two runs, or is equal to document 1")
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
	var rare, medium, common, done, due, assigned, owned int
	for _, b := range doc.Boards {
		if !b.Complete || b.BoardVersion != len(b.Activity) || b.Activity[len(b.Activity)-1].BoardVersion != b.BoardVersion {
			t.Errorf("board %q: got complete %v, version %d and %d activity entries; want a complete board with an entry per version",
				b.Board.Name, b.Complete, b.BoardVersion, len(b.Activity))
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
				owned++
			}
			if c.CreatedAt > c.UpdatedAt || c.UpdatedAt > now.Format(InstantLayout) || c.StartDate != nil && *c.StartDate > *c.DueDate {
				t.Fatalf("the times of card %d are not in order: %+v", c.Number, c)
			}
		}
	}
	if sum != doc.Counts || sum.Boards != boards || sum.Cards != boards*Cards || !doc.Complete {
		t.Errorf("the document contains %+v, with counts %+v and complete %v; want %d boards with %d cards each, equal counts and true",
			sum, doc.Counts, doc.Complete, boards, Cards)
	}
	if rare != boards || medium != 55 || common != boards*Cards/CommonEvery {
		t.Errorf("got %d rare, %d medium and %d common words; want %d, 55 and %d", rare, medium, common, boards, boards*Cards/CommonEvery)
	}
	for property, n := range map[string]int{
		"done": done * 3, "due": due * 3 / 2, "assigned": assigned * 6 / 5, "assigned to the owner": owned * 24,
	} {
		if n < 2000 || n > 4000 {
			t.Errorf("cards that are %s: got %d when scaled to all cards, want 2,000 to 4,000", property, n)
		}
	}
}
