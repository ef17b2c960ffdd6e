package store_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/query"
	"cardwall/internal/store"
)

// record is a card as the reference evaluator sees it.
type record struct {
	id, boardID, listID, boardName, listName string
	creator                                  string // "" for nobody
	labels, labelNames                       []string
	members                                  []string
	archived, done                           *board.Instant
	due                                      board.Due
	created, updated                         board.Instant
	texts                                    map[query.Place][]string
	commenters                               []string
	comments, checklists                     int
	items, itemsDone                         int
}

// world holds the data that random queries refer to.
type world struct {
	me       string
	names    map[string]string // names of people, by id
	emails   map[string]string
	status   map[string]string // the latest status of each board that has one
	admin    map[string]bool   // boards of workspaces that the caller administers
	lists    []string
	boards   []string
	labels   []string
	listName []string
	cards    []record
}

// matches reports whether a card satisfies a node. It is the reference evaluator.
func (w *world) matches(n query.Node, c *record) bool {
	switch n := n.(type) {
	case query.And:
		for _, m := range n {
			if !w.matches(m, c) {
				return false
			}
		}
		return true
	case query.Or:
		for _, m := range n {
			if w.matches(m, c) {
				return true
			}
		}
		return false
	case query.Not:
		return !w.matches(n.Node, c)
	case query.In:
		return w.matchesIn(n, c)
	case query.Has:
		return map[query.Thing]bool{
			query.ThingDescription: len(c.texts[query.InDescription]) > 0, query.ThingChecklist: c.checklists > 0,
			query.ThingComment: c.comments > 0, query.ThingDue: c.due.DueDate != nil, query.ThingStart: c.due.StartDate != nil,
			query.ThingAssignee: len(c.members) > 0, query.ThingLabel: len(c.labels) > 0, query.ThingCreator: c.creator != "",
		}[n.Thing]
	case query.IsDone:
		return c.done != nil
	case query.IsArchived:
		return c.archived != nil
	case query.ChecklistIs:
		if n.Complete {
			return c.items > 0 && c.items == c.itemsDone
		}
		return c.itemsDone < c.items
	case query.StatusIs:
		return slices.Contains(n.Any, w.status[c.boardID])
	case query.Range:
		return w.matchesRange(n, c)
	case query.Text:
		for place, texts := range c.texts {
			for _, text := range texts {
				if (n.Place == query.Anywhere || n.Place == place) && containsText(query.Words(text), n) {
					return true
				}
			}
		}
		return false
	}
	panic("unknown node")
}

func (w *world) matchesIn(n query.In, c *record) bool {
	var ids, names []string
	person := true
	switch n.Ref {
	case query.RefList:
		ids, names, person = []string{c.listID}, []string{c.listName}, false
	case query.RefBoard:
		ids, names, person = []string{c.boardID}, []string{c.boardName}, false
	case query.RefLabel:
		ids, names, person = c.labels, c.labelNames, false
	case query.RefMember:
		ids = c.members
	case query.RefCreator:
		ids = []string{c.creator}
	case query.RefCommenter:
		ids = c.commenters
	}
	for _, id := range ids {
		if slices.Contains(n.IDs, id) || person && id != "" && slices.Contains(n.Names, query.FoldName(w.names[id])) ||
			person && w.admin[c.boardID] && slices.Contains(n.Emails, w.emails[id]) && id != "" {
			return true
		}
	}
	for _, name := range names {
		if slices.Contains(n.Names, query.FoldName(name)) {
			return true
		}
	}
	return false
}

func (w *world) matchesRange(n query.Range, c *record) bool {
	at, day := map[query.Field]*board.Instant{
		query.FieldDue: c.due.DueAt, query.FieldStart: c.due.StartAt, query.FieldCreated: &c.created, query.FieldUpdated: &c.updated,
		query.FieldCompleted: c.done,
	}[n.Field], map[query.Field]*string{query.FieldDue: c.due.DueDate, query.FieldStart: c.due.StartDate}[n.Field]
	switch {
	case at != nil:
		return (!n.From.Bounded() || *at >= n.From.At) && (!n.To.Bounded() || *at < n.To.At)
	case day != nil:
		return (!n.From.Bounded() || *day >= n.From.Day) && (!n.To.Bounded() || *day < n.To.Day)
	}
	return false
}

func containsText(words []string, n query.Text) bool {
	for i := 0; i+len(n.Words) <= len(words); i++ {
		found := true
		for j, want := range n.Words {
			got := words[i+j]
			if got != want && !(n.Prefix && j == len(n.Words)-1 && strings.HasPrefix(got, want)) {
				found = false
				break
			}
		}
		if found {
			return true
		}
	}
	return false
}

var (
	vocabulary = []string{"alpha", "alps", "al", "beta", "Straße", "日本", "x1", "İstanbul", "ﬁsh", "not", "or", "near"}
	folded     = []string{"alpha", "pha", "ta", "alps", "al", "alp", "beta", "be", "strasse", "日", "本", "x1", "x", "istanbul",
		"fish", "not", "or", "near", "nowhere"}
	days = []string{"2026-03-27", "2026-03-28", "2026-03-29", "2026-03-30", "2026-03-31"}
)

// drawNode returns a random node with at most depth levels below it.
func (w *world) drawNode(t *rapid.T, depth int) query.Node {
	kinds := 8
	if depth > 0 {
		kinds = 11
	}
	some := func(from []string) []string {
		return slices.Compact(slices.Sorted(slices.Values(rapid.SliceOfN(rapid.SampledFrom(from), 0, 3).Draw(t, "some"))))
	}
	people := slices.Sorted(func(yield func(string) bool) {
		for id := range w.names {
			if !yield(id) {
				return
			}
		}
	})
	nodes := func() []query.Node {
		out := make([]query.Node, rapid.IntRange(0, 3).Draw(t, "nodes"))
		for i := range out {
			out[i] = w.drawNode(t, depth-1)
		}
		return out
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		in := query.In{Ref: rapid.SampledFrom([]query.Ref{query.RefList, query.RefBoard, query.RefLabel, query.RefMember,
			query.RefCreator, query.RefCommenter}).Draw(t, "ref")}
		switch in.Ref {
		case query.RefList:
			in.IDs, in.Names = some(w.lists), some([]string{"to do", "dóing", "gone"})
		case query.RefBoard:
			in.IDs, in.Names = some(w.boards), some([]string{"one", "two", "three"})
		case query.RefLabel:
			in.IDs, in.Names = some(w.labels), some([]string{"bug", "ünique", "unique"})
		default:
			in.IDs, in.Names = some(people), some([]string{"ada", "bob", "éve", "eve"})
			in.Emails = some([]string{"ada@example.com", "bob@example.com", "éve@example.com", "x@example.com"})
		}
		return in
	case 1:
		return query.Has{Thing: rapid.SampledFrom([]query.Thing{query.ThingDescription, query.ThingChecklist, query.ThingComment, query.ThingDue,
			query.ThingStart, query.ThingAssignee, query.ThingLabel, query.ThingCreator}).Draw(t, "thing")}
	case 2:
		return rapid.SampledFrom([]query.Node{query.IsDone{}, query.IsArchived{}, query.StatusIs{
			Any: rapid.SliceOfN(rapid.SampledFrom([]string{"on_track", "at_risk", "off_track", "complete"}), 1, 3).Draw(t,
				"statuses")}}).Draw(t, "state")
	case 3:
		return query.ChecklistIs{Complete: rapid.Bool().Draw(t, "complete")}
	case 4:
		n := query.Range{Field: rapid.SampledFrom([]query.Field{query.FieldDue, query.FieldStart, query.FieldCreated,
			query.FieldUpdated, query.FieldCompleted}).Draw(t, "field")}
		edge := func() query.Edge {
			if n.Field == query.FieldCreated || n.Field == query.FieldUpdated || n.Field == query.FieldCompleted {
				return query.Edge{Day: "x", At: rapid.SampledFrom(w.cards).Draw(t, "card").updated +
					board.Instant(rapid.IntRange(-1, 1).Draw(t, "off"))}
			}
			c := rapid.SampledFrom(w.cards).Draw(t, "card")
			e := query.Edge{Day: rapid.SampledFrom(days).Draw(t, "day"), At: c.created}
			if c.due.DueAt != nil {
				e.At = *c.due.DueAt + board.Instant(rapid.IntRange(-1, 1).Draw(t, "off"))
			}
			return e
		}
		sides := rapid.IntRange(1, 3).Draw(t, "sides")
		if sides&1 > 0 {
			n.From = edge()
		}
		if sides&2 > 0 {
			n.To = edge()
		}
		return n
	case 5, 6, 7:
		return query.Text{
			Place: rapid.SampledFrom([]query.Place{query.Anywhere, query.Anywhere, query.InTitle, query.InDescription, query.InComment,
				query.InChecklist}).Draw(t, "place"),
			Words:  rapid.SliceOfN(rapid.SampledFrom(folded), 1, 2).Draw(t, "words"),
			Prefix: rapid.Bool().Draw(t, "prefix"),
		}
	case 8:
		return query.And(nodes())
	case 9:
		return query.Or(nodes())
	}
	return query.Not{Node: w.drawNode(t, depth-1)}
}

// TestConditionsAgreeWithReference compares the results of random queries in SQL with
// those of the reference evaluator. It checks every card, and then reads through each
// index that the query can use.
func TestConditionsAgreeWithReference(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(t, s)
		indexReads, hits := 0, 0
		compare := func(t *rapid.T) {
			where := make(query.And, rapid.IntRange(0, 3).Draw(t, "terms"))
			for i := range where {
				where[i] = w.drawNode(t, 2)
			}
			q := query.Query{Where: where, Archived: rapid.SampledFrom([]query.Archived{query.ArchivedNo, query.ArchivedAll,
				query.ArchivedOnly}).Draw(t, "archived")}
			var want []string
			for i := range w.cards {
				c := &w.cards[i]
				included := q.Archived == query.ArchivedAll || (c.archived != nil) == (q.Archived == query.ArchivedOnly)
				if included && w.matches(where, c) {
					want = append(want, c.id)
				}
			}
			hits += len(want)
			err := s.DB.Read(context.Background(), board.Person(w.me), func(v *store.View) error {
				for lead := -1; lead < len(where); lead++ {
					if lead >= 0 && !v.CanLead(context.Background(), q, lead) {
						continue
					}
					for _, newest := range []bool{false, true} {
						got, err := v.Matching(context.Background(), q, lead, newest)
						if err != nil {
							return err
						}
						if !slices.Equal(got, want) {
							t.Fatalf("%#v, archived %s, lead %d, newest %v:\ngot  %v\nwant %v", where, q.Archived, lead, newest, got, want)
						}
					}
					if lead >= 0 {
						indexReads++
					}
				}
				return nil
			})
			if err != nil {
				t.Fatalf("%v: %#v", err, where)
			}
		}
		rapid.Check(t, func(t *rapid.T) {
			for range 10 {
				compare(t)
			}
		})
		if indexReads == 0 || hits == 0 {
			t.Errorf("got %d reads through an index and %d matching cards, want at least one of each", indexReads, hits)
		}
		t.Logf("%d reads through an index, %d matching cards", indexReads, hits)
	})
}
