package mcp

import (
	"context"
	"maps"
	"slices"
	"unicode/utf8"

	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/query"
	"cardwall/internal/store"
)

// Limits on the names of one call. Exceeding one is an error. They also bound the number of
// statements.
const (
	maxNames      = 100  // different ones in one field, because update_cards takes 100 cards of a named board
	maxNameLength = 1100 // in characters; enough for the names of a board and of a list
	maxNameBoards = 10   // boards on which the records are
	maxRecords    = 2000 // boards or archived lists among which a name is looked for
)

// lookupInput is the input and the result of the lookup of names and of dates in words.
type lookupInput struct {
	Tool       string      `json:"tool"`
	References references  `json:"references"`
	Dates      []dateWords `json:"dates,omitempty"`
}

// newLookups returns the operations that replace names and words, return the names of lists, and
// return a text. They are in a registry of their own, because they are not part of any API. They
// run in the engine like others, as the caller.
func newLookups() (ids, listNames, text *op.Operation) {
	r := op.NewRegistry()
	r.In("Names", "Records by name.")
	op.Query(r, "look_up_names", "POST /names", "Look up names.", lookUp)
	op.Query(r, "name_lists", "POST /list-names", "Look up the names of lists.", namesOfLists)
	op.Query(r, "read_text", "POST /text", "Read a text.", wholeText)
	return r.Named("look_up_names"), r.Named("name_lists"), r.Named("read_text")
}

// lookup is one lookup of names. Its fields cache what it has read.
type lookup struct {
	*store.View
	tool       string
	refs       references
	boards     []board.Board                // all that the caller can see, at most maxRecords
	workspaces map[string]string            // names by id
	entered    map[string]board.Board       // the boards on which records were looked for
	homes      map[string]string            // the board of a card or a list
	people     map[string][]query.Person    // by board
	loaded     map[string][]candidate       // see records
	found      map[string]map[string]string // ids by the name of a field and by name
	timeZone   string                       // the caller's own; "" if it is not known yet
}

// reference is a name in a field.
type reference struct {
	field, text, folded string
	noun                noun
}

// fold normalizes a name for comparing, as the search grammar does, and without the
// characters that assistants do not see.
func fold(name string) string { return query.FoldName(string(stripHidden([]byte(name)))) }

// first are the fields that determine the board of the others, in the order of their lookup.
var first = []string{"workspaceId", "boardId", "cardId", "listId"}

// lookUp replaces the names in the input with ids, and dates in words with dates. It returns an
// error for a name that does not match exactly one record, and for words that are not clear.
func lookUp(ctx context.Context, v *store.View, in lookupInput) (lookupInput, error) {
	l := &lookup{
		View: v, tool: in.Tool, refs: in.References, entered: map[string]board.Board{}, homes: map[string]string{},
		people: map[string][]query.Person{}, loaded: map[string][]candidate{}, found: map[string]map[string]string{},
	}
	for i, words := range in.Dates {
		var err error
		if in.Dates[i].Text, err = l.date(ctx, words); err != nil {
			return in, err
		}
	}
	fields := slices.Clone(first)
	for _, field := range slices.Sorted(maps.Keys(in.References)) {
		if !slices.Contains(first, field) {
			fields = append(fields, field)
		}
	}
	for _, field := range fields {
		for i, text := range l.refs[field] {
			if !isName(in.Tool, field, text) {
				continue
			}
			id, err := l.findOnce(ctx, field, text)
			if err != nil {
				return in, err
			}
			l.refs[field][i] = id
		}
	}
	return in, nil
}

// findOnce is like find, but finds the same name in fields with the same name only once. All of
// them refer to the same board.
func (l *lookup) findOnce(ctx context.Context, field, text string) (string, error) {
	ids := l.found[leaf(field)]
	switch {
	case ids == nil:
		ids = map[string]string{}
		l.found[leaf(field)] = ids
	case ids[text] != "":
		return ids[text], nil
	case len(ids) == maxNames:
		return "", newNameError(field, nil, "a field takes at most %d names. Use ids for the others.", maxNames)
	}
	id, err := l.find(ctx, field, text)
	ids[text] = id
	return id, err
}

// restores reports whether the tool restores archived records of a kind.
func (l *lookup) restores(n noun) bool { return l.tool == "restore_"+string(n) }

// find returns the id of the record that a name identifies.
func (l *lookup) find(ctx context.Context, field, text string) (string, error) {
	r := reference{field: field, text: text, noun: nounOf(l.tool, leaf(field))}
	if utf8.RuneCountInString(text) <= maxNameLength {
		r.folded = fold(text)
	}
	switch {
	case r.folded == "":
		return "", newNameError(field, nil, "a name must have 1 to %d visible characters.", maxNameLength)
	case r.noun == aWorkspace:
		return l.workspace(ctx, r)
	case r.noun == aBoard:
		return l.board(ctx, r)
	case r.noun == aCard:
		return l.card(ctx, r)
	case r.noun == aPerson:
		return l.person(ctx, r)
	}
	return l.onBoard(ctx, r)
}

func (l *lookup) workspace(ctx context.Context, r reference) (string, error) {
	spaces, err := l.Workspaces(ctx, "", maxRecords)
	if err != nil {
		return "", err
	}
	var all []candidate
	for _, w := range spaces {
		all = append(all, candidate{ID: w.ID, Name: w.Name})
	}
	return l.choose(r, exact(all, r.folded), all)
}

// visible loads the boards that the caller can see, including archived ones.
func (l *lookup) visible(ctx context.Context, r reference) error {
	if l.workspaces != nil {
		return nil
	}
	boards, err := l.Boards(ctx, "", true, "", maxRecords+1)
	if err != nil {
		return err
	}
	if len(boards) > maxRecords {
		return newNameError(r.field, nil, "you can see more than %d boards, which are too many to look for a name. "+
			"Use an id.", maxRecords)
	}
	spaces, err := l.Workspaces(ctx, "", maxRecords)
	if err != nil {
		return err
	}
	l.boards, l.workspaces = boards, map[string]string{}
	for _, w := range spaces {
		l.workspaces[w.ID] = w.Name
	}
	return nil
}

func (l *lookup) board(ctx context.Context, r reference) (string, error) {
	if err := l.visible(ctx, r); err != nil {
		return "", err
	}
	var open, archived []candidate
	for _, b := range l.boards {
		c := candidate{ID: b.ID, Name: b.Name, Workspace: l.workspaces[b.WorkspaceID], Archived: b.ArchivedAt != nil}
		if c.Archived {
			archived = append(archived, c)
		} else {
			open = append(open, c)
		}
	}
	if l.restores(aBoard) {
		open, archived = archived, nil
	}
	matches := exact(open, r.folded)
	if gone := exact(archived, r.folded); matches == nil && gone != nil {
		open = gone // they explain why there is no match
	}
	return l.choose(r, matches, open)
}

// exact returns the records with a folded name.
func exact(all []candidate, name string) (out []candidate) {
	for _, c := range all {
		if fold(c.Name) == name {
			out = append(out, c)
		}
	}
	return out
}
