package transfer

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// FuzzImportTrello reads a file and plans its board. The result must be a fault, or a plan that
// both databases can store. The test does not use a database, which would take most of the
// fuzzer's time. TestTrelloMutations writes similar boards.
func FuzzImportTrello(f *testing.F) {
	files, err := filepath.Glob("testdata/trello-export-*.json")
	if err != nil || len(files) != 2 {
		f.Fatalf("got the exports %q (error %v), want 2", files, err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Add(`{"id":"5fcbec03c670ab79e1f625b2","lists":[{"id":"l","name":"a"}],"labels":[{"id":"b","color":"red"}],
		"members":[{"id":"m","fullName":"Ada"}],
		"cards":[{"id":"c","idList":"l","pos":1e308,"idShort":1e18,"due":"2999-12-31T23:59:59Z","start":"2000-01-01T00:00:00Z",
		"idMembers":["m"],"idLabels":["b"],"closed":true,"dueComplete":true}],
		"checklists":[{"idCard":"c","name":"k","checkItems":[{"name":"1","state":"complete"},{"name":"2"}]}],
		"actions":[{"type":"commentCard","idMemberCreator":"m","date":"x","data":{"text":"\ud83d","card":{"id":"c"}}}]}`)
	limits := board.DefaultLimits()
	limits.Items, limits.Title, limits.Text = 2, 20, 40
	members := []board.Member{{ID: "usr_1", Name: "Ada", Role: board.WorkspaceMember}}
	f.Fuzz(func(t *testing.T, text string) {
		file, err := readTrello(strings.NewReader(text))
		if err == nil {
			p := newPlan(file, members, planContext{"wsp_1", "usr_2", limits, 1_800_000_000_000, store.NewID})
			if err = p.build(); err == nil {
				checkPlan(t, p)
				return
			}
		}
		if _, named := board.AsFault(err); !named {
			t.Errorf("got error %v, want a plan or a fault", err)
		}
	})
}

func checkPlan(t *testing.T, p *plan) {
	t.Helper()
	texts := func(titled bool, limit int, all ...string) {
		for _, s := range all {
			if !utf8.ValidString(s) || strings.ContainsRune(s, 0) || utf8.RuneCountInString(s) > limit ||
				titled && (s == "" || board.CleanLine(s) != s) {
				t.Errorf("got the text %q, which cannot be stored", s)
			}
		}
	}
	times := func(all ...*board.Instant) {
		for _, at := range all {
			if at != nil && (at.Time().Year() < 1900 || at.Time().Year() > 2999) {
				t.Errorf("got the time %s, want a year from 1900 to 2999", at)
			}
		}
	}
	texts(true, p.limits.Title, p.board.Name)
	texts(false, p.limits.Text, p.board.Description)
	times(&p.board.CreatedAt, p.board.ArchivedAt)
	lists, ranks := map[string]string{}, ""
	for _, l := range p.lists {
		texts(true, p.limits.Title, l.Name)
		times(&l.CreatedAt, l.ArchivedAt)
		if l.Rank <= ranks {
			t.Errorf("list %s: got rank %q, want a rank after %q", l.Name, l.Rank, ranks)
		}
		ranks, lists[l.ID] = l.Rank, ""
	}
	labels := map[string]bool{}
	for _, l := range p.labels {
		texts(false, p.limits.Title, l.Name)
		labels[l.ID] = true
	}
	if len(p.cards) != len(p.file.Cards) {
		t.Errorf("got %d cards, want %d", len(p.cards), len(p.file.Cards))
	}
	numbers := map[int]bool{}
	for _, c := range p.cards {
		texts(true, p.limits.Title, c.Title)
		texts(false, p.limits.Text, *c.Description)
		times(&c.CreatedAt, &c.UpdatedAt, c.DoneAt, c.ArchivedAt, c.DueAt, c.StartAt)
		last, ok := lists[c.ListID]
		if !ok || c.Rank <= last || c.Number < 1 || c.Number > maxNumber || numbers[c.Number] {
			t.Errorf("got the card %+v, want a unique rank and number", c.Card)
		}
		lists[c.ListID], numbers[c.Number] = c.Rank, true
		if err := due("card", c.Due); err != nil {
			t.Error(err)
		}
		for _, l := range c.Labels {
			if !labels[l.ID] {
				t.Errorf("got the label %+v, want a label of the board", l)
			}
		}
		if len(c.checklists) > p.limits.Checklists {
			t.Errorf("got %d checklists, want at most %d", len(c.checklists), p.limits.Checklists)
		}
		for _, k := range c.checklists {
			texts(true, p.limits.Title, k.Title)
			if len(k.Items) > p.limits.Items {
				t.Errorf("got %d items, want at most %d", len(k.Items), p.limits.Items)
			}
			for _, i := range k.Items {
				texts(true, p.limits.Title, i.Title)
				times(&i.CreatedAt, &i.UpdatedAt, i.DoneAt)
			}
		}
		for _, m := range c.comments {
			texts(false, p.limits.Text, m.Text)
			times(&m.CreatedAt, m.EditedAt)
		}
	}
	for line := range strings.Lines(p.report.String()) {
		texts(true, 1000, strings.TrimSuffix(line, "\n"))
	}
}
