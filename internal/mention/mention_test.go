package mention_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"cardwall/internal/board"
	"cardwall/internal/mention"
)

// The pages read the same table.
func TestIn(t *testing.T) {
	var table struct {
		People []string
		Texts  []struct {
			Text     string
			Mentions []string
		}
	}
	text, err := os.ReadFile("testdata/mentions.json")
	if err == nil {
		err = json.Unmarshal(text, &table)
	}
	if err != nil || len(table.Texts) == 0 {
		t.Fatalf("read the table: got %d texts, error %v", len(table.Texts), err)
	}
	people := make([]board.UserRef, len(table.People))
	for i, name := range table.People {
		people[i] = board.UserRef{ID: name, Name: name}
	}
	for _, c := range table.Texts {
		if got := mention.In(c.Text, people); !slices.Equal(got, c.Mentions) {
			t.Errorf("%q: got %q, want %q", c.Text, got, c.Mentions)
		}
	}
	if got := mention.In("    @Adam", people); !slices.Equal(got, []string{"Adam"}) {
		t.Errorf("indented text: got %q, want Adam", got)
	}
	if got := mention.In("@Ada", []board.UserRef{{ID: "1", Name: "Ada"}, {ID: "2", Name: "Ada"}}); !slices.Equal(got,
		[]string{"1", "2"}) {
		t.Errorf("two people with the same name: got %v, want both", got)
	}
}

func FuzzIn(f *testing.F) {
	f.Add("@Ada `@Bob", "Ada")
	f.Fuzz(func(t *testing.T, text, name string) {
		got := mention.In(text, []board.UserRef{{ID: "x", Name: name}})
		if len(got) > 0 && !strings.ContainsAny(text, "@＠") {
			t.Errorf("%q: got %v, want no mention without an @", text, got)
		}
	})
}
