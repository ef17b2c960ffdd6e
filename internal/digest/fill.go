package digest

import (
	"fmt"
	"strconv"
	"unicode/utf8"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// maxTokens is the maximum size of a digest, in tokens.
const maxTokens = 4000

// The estimated sizes of records without the texts and ids in them.
const (
	digestCost  = 100*token + 2*instantCost + idCost // with the field shortened
	boardCost   = 30*token + idCost
	sumCost     = 14*token + idCost
	groupCost   = 20 * token
	personCost  = 20*token + idCost
	itemCost    = 3 * token
	fieldCost   = 3 * token // a field of an item
	flagCost    = 5 * token // a field with a small number or a boolean
	kindCost    = 7 * token // a kind of change in an array
	elementCost = 1 * token // an element of an array
)

// limits are the maximum estimates of texts.
type limits struct{ name, title, text int }

var (
	roomy = limits{40 * token, 300 * token, 150 * token} // if everything fits
	tight = limits{12 * token, 40 * token, 40 * token}   // if not
)

// The maximum numbers of actors and of kinds of change that an item names.
const (
	maxBy    = 2
	maxKinds = 4
)

const leftOut = "Left out for space: more, moreBy, morePeople and moreBoards say how much. Next: choose a shorter period, " +
	"get_board_digest for one board, or list_board_activity for every change."

// filler fills a digest until its space is used up.
type filler struct {
	limits
	space int
	names map[actorKey]string
	less  bool // something was left out
	out   WorkspaceDigest
}

// whole returns a digest of sections, and of other boards, which have fewer changes. It has at
// least one section if there are any.
func whole(sections []*section, rest []store.ActiveBoard) WorkspaceDigest {
	f := compose(roomy, sections, rest)
	if f.less {
		f = compose(tight, sections, rest)
	}
	if f.less {
		f.out.Shortened = new(leftOut)
	}
	return f.out
}

func compose(l limits, sections []*section, rest []store.ActiveBoard) *filler {
	f := &filler{limits: l, space: maxTokens*token - digestCost, names: map[actorKey]string{}}
	f.out = WorkspaceDigest{
		Digest: Digest{People: []DigestActor{}}, Boards: []DigestBoard{}, OtherBoards: []BoardChanges{},
	}
	f.addPeople(mostActive(sections), f.space/5)
	sections, rest = f.addBoards(sections, rest, f.space/2)
	f.addRest(rest, f.space/4)
	f.addItems(sections)
	for _, s := range sections {
		f.less = f.less || s.extent.GroupedChanges < s.changes
	}
	return f
}

// addPeople names all people, and adds the most active ones that fit into a part of the space.
func (f *filler) addPeople(people []*person, space int) {
	used := map[string]bool{}
	for _, p := range people {
		name, actor := f.label(p), p.actor
		unique := name
		for i := 2; used[unique]; i++ {
			unique = fmt.Sprintf("%s (%d)", name, i)
		}
		used[unique] = true
		f.names[p.actorKey] = unique
		if actor.Client != nil {
			client, _ := cut(*actor.Client, f.name)
			actor.Client = &client
		}
		size := personCost + cost(unique) + cost(text(actor.Client))
		if space -= size; space < 0 {
			f.out.MorePeople++
			f.less = true
			continue
		}
		f.space -= size
		f.out.People = append(f.out.People, DigestActor{Name: unique, Actor: actor, Changes: p.changes})
	}
}

// label returns the name of an actor, which others may have, too.
func (f *filler) label(p *person) string {
	name := "A former member"
	switch {
	case p.kind == board.ActorAutomation:
		name = "Automation"
	case p.kind == board.ActorGuest:
		name = "A guest"
	case p.kind == board.ActorSystem:
		name = "Cardwall"
	case p.name != "":
		name, _ = cut(p.name, f.name)
	}
	if p.client != "" {
		client, _ := cut(p.client, f.name*2/3)
		name += " via " + client
	}
	return name
}

// addBoards adds boards without items that fit into a part of the space, and at least one. It
// returns their sections and the boards that remain.
func (f *filler) addBoards(sections []*section, rest []store.ActiveBoard, space int) ([]*section, []store.ActiveBoard) {
	for i, s := range sections {
		name, _ := cut(s.name, f.title)
		part := DigestBoard{BoardChanges: BoardChanges{s.id, name, s.changes}, Extent: s.extent, Groups: []DigestGroup{}}
		for _, name := range groupNames {
			if g := s.groups[name]; g != nil {
				part.Groups = append(part.Groups, DigestGroup{Group: name, Total: len(g.items), Items: []DigestItem{}})
			}
		}
		size := boardCost + cost(name) + len(part.Groups)*groupCost
		if space -= size; space < 0 && i > 0 {
			var fewer []store.ActiveBoard
			for _, s := range sections[i:] {
				fewer = append(fewer, store.ActiveBoard{ID: s.id, Name: s.name, Changes: s.changes})
			}
			f.less = true
			sections, rest = sections[:i], append(fewer, rest...)
			break
		}
		f.space -= size
		f.out.Boards = append(f.out.Boards, part)
	}
	for _, b := range f.out.Boards {
		f.out.Changes += b.Changes
	}
	return sections, rest
}

// addRest adds the boards without groups that fit into a part of the space.
func (f *filler) addRest(rest []store.ActiveBoard, space int) {
	for _, b := range rest {
		f.less = true
		f.out.Changes += b.Changes
		name, _ := cut(b.Name, f.title)
		size := sumCost + cost(name)
		if space -= size; space < 0 {
			f.out.MoreBoards++
			continue
		}
		f.space -= size
		f.out.OtherBoards = append(f.out.OtherBoards, BoardChanges{b.ID, name, b.Changes})
	}
}

// turn is a group of a board that has more items.
type turn struct {
	section *section
	name    groupName
	items   []*item
	out     *DigestGroup
}

// addItems adds an item of each board, taking turns among its groups, and again until the space
// is used up. A group ends with the first item that does not fit.
func (f *filler) addItems(sections []*section) {
	queues := make([][]turn, len(sections))
	left := 0
	for i, s := range sections {
		groups := f.out.Boards[i].Groups
		for j := range groups {
			items := s.groups[groups[j].Group].items
			left += len(items)
			queues[i] = append(queues[i], turn{s, groups[j].Group, items[:min(len(items), maxItems)], &groups[j]})
		}
	}
	for more := true; more; {
		more = false
		for i, queue := range queues {
			if len(queue) == 0 {
				continue
			}
			more = true
			next := queue[0]
			queues[i] = queue[1:]
			out, size := f.item(next)
			if size > f.space {
				continue
			}
			f.space -= size
			left--
			next.out.Items = append(next.out.Items, out)
			if next.items = next.items[1:]; len(next.items) > 0 {
				queues[i] = append(queues[i], next)
			}
		}
	}
	f.less = f.less || left > 0
	for i := range sections {
		groups := f.out.Boards[i].Groups
		for j := range groups {
			groups[j].More = groups[j].Total - len(groups[j].Items)
		}
	}
}

// item returns the next item of a group and its size.
func (f *filler) item(t turn) (out DigestItem, size int) {
	it := t.items[0]
	size = itemCost
	set := func(field *string, s string, limit int) {
		short, partial := cut(s, limit)
		if *field = short; short != "" {
			size += fieldCost + cost(short)
			out.Partial = out.Partial || partial
		}
	}
	if out.ID = it.id; it.id != "" {
		size += fieldCost + idCost
	}
	switch t.name {
	case lists, members, other:
		set(&out.Title, it.title, f.title)
	default:
		out.Number = it.card.Number
		size += fieldCost + cost(strconv.Itoa(out.Number))
		set(&out.Title, it.card.Title, f.title)
	}
	switch t.name {
	case moved:
		set(&out.From, t.section.lists[text(it.from)], f.name)
		set(&out.To, t.section.lists[text(it.to)], f.name)
	case dueDates:
		set(&out.From, text(it.from), f.name)
		set(&out.To, text(it.to), f.name)
		fallthrough
	default:
		set(&out.List, it.card.List, f.name)
	}
	set(&out.Text, it.text, f.text)
	if utf8.RuneCountInString(it.text) == maxText && !out.Partial {
		out.Text, out.Partial = out.Text+"…", true
	}
	switch t.name {
	case cards, lists, members, other:
		out.Types = it.kinds[:min(len(it.kinds), maxKinds)]
		size += fieldCost + len(out.Types)*kindCost
		if out.MoreTypes = len(it.kinds) - len(out.Types); out.MoreTypes > 0 {
			size += flagCost
		}
	}
	if it.changes > 1 {
		out.Changes = it.changes
		size += fieldCost + cost(strconv.Itoa(it.changes))
	}
	size += fieldCost
	for _, p := range it.people[:min(len(it.people), maxBy)] {
		name := f.names[p.actorKey]
		out.By = append(out.By, name)
		size += elementCost + cost(name)
	}
	if out.MoreBy = len(it.people) - len(out.By); out.MoreBy > 0 {
		size += flagCost
	}
	if out.Partial {
		size += flagCost
	}
	return out, size
}
