package digest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// groupOf are the groups of the kinds of changes to a card, except those in the group cards.
var groupOf = map[board.Kind]groupName{
	board.KindCardCreated: created, board.KindCardCompleted: completed, board.KindCardReopened: reopened,
	board.KindCardMoved: moved, board.KindCardArchived: archived, board.KindCardRestored: restored,
	board.KindCardDueDateChanged: dueDates, board.KindCommentAdded: comments,
}

// actorKey identifies an actor together with the program that it used.
type actorKey struct {
	kind       board.ActorType
	id, client string
}

// person is an actor with the number of its changes.
type person struct {
	actorKey
	actor   board.EntryActor
	changes int
	name    string // empty if the caller cannot see it
}

// item holds the changes to a record in a group.
type item struct {
	id       string // empty in the group other
	changes  int
	kinds    []board.Kind
	people   []*person
	from, to *string  // of the oldest and of the newest change
	dated    bool     // to is set
	comments []string // ids, newest first
	card     store.NamedCard
	title    string
	text     string
}

// group holds the items of a group, the most recently changed first.
type group struct {
	items []*item
	byID  map[string]*item
}

// section collects the changes to a board.
type section struct {
	id, name string
	changes  int
	read     int // the number of changes in the groups
	extent   Extent
	people   map[actorKey]*person
	groups   map[groupName]*group
	lists    map[string]string    // names by id
	last     map[string]groupName // the newest of two opposite changes, by what it changed
	deleted  map[string]bool      // ids of deleted comments
}

// values are the values of changes that a digest shows.
type values struct {
	ListID    fromTo `json:"listId"`
	DueDate   fromTo `json:"dueDate"`
	CommentID fromTo `json:"commentId"`
	UserID    fromTo `json:"userId"`
	Name      fromTo `json:"name"`
	Title     fromTo `json:"title"`
}

type fromTo struct {
	From *string `json:"from"`
	To   *string `json:"to"`
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// collect reads the newest changes to a loaded board in a period, at most limit.
func collect(ctx context.Context, v *store.View, b store.ActiveBoard, p store.Period, limit int) (*section, error) {
	s := &section{
		id: b.ID, name: b.Name, changes: b.Changes, people: map[actorKey]*person{}, groups: map[groupName]*group{},
		last: map[string]groupName{}, deleted: map[string]bool{},
	}
	if err := v.PeriodChanges(ctx, b.ID, p, limit, s.add); err != nil {
		return nil, err
	}
	s.extent.GroupedChanges = s.read
	var err error
	if s.extent.Incomplete, err = v.LacksChanges(ctx, b.ID, p.Since); err != nil {
		return nil, err
	}
	return s, s.addNames(ctx, v)
}

// add adds a change, which is older than those before it.
func (s *section) add(e *store.PeriodEntry) error {
	s.read++
	var val values
	if e.Values != nil {
		if err := json.Unmarshal(e.Values, &val); err != nil {
			return fmt.Errorf("decode changes of board %s: %w", s.id, err)
		}
	}
	it := s.item(e, val)
	it.changes++
	if !slices.Contains(it.kinds, e.Type) {
		it.kinds = append(it.kinds, e.Type)
	}
	if by := s.person(e.Actor); !slices.Contains(it.people, by) {
		it.people = append(it.people, by)
	}
	change := val.ListID
	switch e.Type {
	case board.KindCardMoved:
	case board.KindCardDueDateChanged:
		change = val.DueDate
	case board.KindCommentDeleted:
		s.deleted[text(val.CommentID.From)] = true
		return nil
	case board.KindCommentAdded:
		if id := text(val.CommentID.To); !s.deleted[id] {
			it.comments = append(it.comments, id)
		}
		return nil
	default:
		if it.id == "" && it.title == "" {
			it.title = cmp.Or(text(val.Title.To), text(val.Name.To), text(val.Name.From))
		}
		return nil
	}
	if change == (fromTo{}) { // only the start or the time of day
		return nil
	}
	if !it.dated {
		it.dated, it.to = true, change.To
	}
	it.from = change.From
	return nil
}

// item returns the item for a change.
func (s *section) item(e *store.PeriodEntry, val values) *item {
	name, id := cards, e.CardID
	noun, _, _ := strings.Cut(string(e.Type), ".")
	switch {
	case noun == "list":
		name, id = lists, e.ListID
	case noun == "board_member":
		name, id = members, cmp.Or(text(val.UserID.To), text(val.UserID.From))
	case e.CardID == "":
		name, id = other, ""
	case groupOf[e.Type] != "":
		name = groupOf[e.Type]
	}
	switch name {
	case completed, reopened:
		name = s.newest("done "+id, name)
	case archived, restored:
		name = s.newest("archived "+id, name)
	}
	g := s.groups[name]
	if g == nil {
		g = &group{byID: map[string]*item{}}
		s.groups[name] = g
	}
	key := id
	if name == other {
		key = string(e.Type)
	}
	it := g.byID[key]
	if it == nil {
		it = &item{id: id}
		g.byID[key] = it
		g.items = append(g.items, it)
	}
	return it
}

// newest returns the group of the newest of several changes that undo each other.
func (s *section) newest(what string, name groupName) groupName {
	if s.last[what] == "" {
		s.last[what] = name
	}
	return s.last[what]
}

func (s *section) person(a board.EntryActor) *person {
	key := actorKey{a.Type, text(a.ID), text(a.Client)}
	p := s.people[key]
	if p == nil {
		p = &person{actorKey: key, actor: a}
		s.people[key] = p
	}
	p.changes++
	return p
}

// maxItems is the maximum number of items of a group whose names are read. No more fit into a
// digest.
const maxItems = 100

// addNames reads the names of people, and the names of those cards and lists that may fit.
func (s *section) addNames(ctx context.Context, v *store.View) error {
	var cardIDs, listIDs, people, commentIDs []string
	for name, g := range s.groups {
		for _, it := range g.items[:min(len(g.items), maxItems)] {
			switch name {
			case other, dueDates:
			case lists:
				listIDs = append(listIDs, it.id)
			case members:
				people = append(people, it.id)
			case moved:
				listIDs = append(listIDs, text(it.from), text(it.to))
			case comments:
				if len(it.comments) > 0 {
					commentIDs = append(commentIDs, it.comments[0])
				}
			}
			if name != lists && name != members && name != other {
				cardIDs = append(cardIDs, it.id)
			}
		}
	}
	for _, p := range s.people {
		if p.kind == board.ActorPerson {
			people = append(people, p.id)
		}
	}
	known, err := v.CardNames(ctx, s.id, distinct(cardIDs))
	if err != nil {
		return err
	}
	if s.lists, err = v.ListNames(ctx, s.id, distinct(listIDs)); err != nil {
		return err
	}
	texts, err := v.CommentBeginnings(ctx, s.id, distinct(commentIDs), maxText)
	if err != nil {
		return err
	}
	names, err := v.ActorNames(ctx, s.id, distinct(people))
	if err != nil {
		return err
	}
	for _, p := range s.people {
		p.name = names[p.id]
	}
	for name, g := range s.groups {
		for _, it := range g.items {
			switch name {
			case lists:
				it.title = s.lists[it.id]
			case members:
				it.title = names[it.id]
			case other:
			default:
				it.card = known[it.id]
			}
			if len(it.comments) > 0 {
				it.text = texts[it.comments[0]]
			}
		}
	}
	return nil
}

// distinct returns the different ids, in order.
func distinct(ids []string) []string {
	slices.Sort(ids)
	return slices.DeleteFunc(slices.Compact(ids), func(id string) bool { return id == "" })
}

// mostActive returns people with the most active first. People of several boards are one.
func mostActive(sections []*section) []*person {
	all := map[actorKey]*person{}
	for _, s := range sections {
		for key, p := range s.people {
			if sum := all[key]; sum != nil {
				sum.changes += p.changes
				sum.name = cmp.Or(sum.name, p.name)
			} else {
				all[key] = new(*p)
			}
		}
	}
	return slices.SortedFunc(maps.Values(all), func(a, b *person) int {
		return cmp.Or(cmp.Compare(b.changes, a.changes), cmp.Compare(a.kind, b.kind), cmp.Compare(a.id, b.id),
			cmp.Compare(a.client, b.client))
	})
}
