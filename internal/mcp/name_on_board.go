package mcp

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// enter checks that the caller can see a board, and limits the number of boards.
func (l *lookup) enter(ctx context.Context, r reference, boardID string) error {
	if _, ok := l.entered[boardID]; ok {
		return nil
	}
	if len(l.entered) == maxNameBoards {
		return newNameError(r.field, nil, "the names of a call may refer to at most %d boards. Use ids.", maxNameBoards)
	}
	b, err := l.Board(ctx, boardID, board.View)
	if err == nil {
		l.entered[boardID] = b
	}
	return err
}

// home returns the id of the board that the call says for a field, or "" if it says none.
func (l *lookup) home(ctx context.Context, r reference) (string, error) {
	if r.field == "listId" && (l.tool == "move_card_to_board" || l.tool == "move_list_to_board") {
		return "", nil // the list is not on the board of the card or of boardId
	}
	for _, field := range []string{"boardId", "cardId", "listId"} {
		ids := l.refs[field]
		switch {
		case field == r.field:
			return "", nil
		case len(ids) == 0 || !isID(ids[0]):
			continue
		case field == "boardId":
			return ids[0], l.enter(ctx, r, ids[0])
		}
		id := ids[0]
		if l.homes[id] == "" {
			boardID, err := l.homeOf(ctx, field, id)
			if err != nil {
				return "", err
			}
			l.homes[id] = boardID
		}
		return l.homes[id], l.enter(ctx, r, l.homes[id])
	}
	return "", nil
}

// homeOf returns the board of a card or a list.
func (l *lookup) homeOf(ctx context.Context, field, id string) (string, error) {
	if field == "cardId" {
		c, err := l.Card(ctx, id, board.View)
		return c.BoardID, err
	}
	list, err := l.List(ctx, id, board.View)
	return list.BoardID, err
}

// named returns the open boards whose folded name matches, after enter.
func (l *lookup) named(ctx context.Context, r reference, matches func(name string) bool) (out []board.Board, err error) {
	if err := l.visible(ctx, r); err != nil {
		return nil, err
	}
	for _, b := range l.boards {
		if b.ArchivedAt == nil && matches(fold(b.Name)) {
			out = append(out, b)
		}
	}
	for _, b := range out {
		if err := l.enter(ctx, r, b.ID); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// separator is between the name of a board and the name of a list or a label on it.
const separator = " / "

// onBoard finds a list or a label on the board of the call, or by "Board / Name". It tries
// both, because names can contain the separator.
func (l *lookup) onBoard(ctx context.Context, r reference) (string, error) {
	home, err := l.home(ctx, r)
	if err != nil {
		return "", err
	}
	type place struct{ board, name string }
	var places []place
	if home != "" {
		places = append(places, place{home, r.folded})
	}
	if strings.Contains(r.folded, separator) {
		boards, err := l.named(ctx, r, func(name string) bool { return strings.HasPrefix(r.folded, name+separator) })
		if err != nil {
			return "", err
		}
		for _, b := range boards {
			places = append(places, place{b.ID, strings.TrimPrefix(r.folded, fold(b.Name)+separator)})
		}
	}
	if len(places) == 0 {
		return "", unknownName(r, nil, "the call does not say on which open board the %s is. "+
			`Write "Board / Name" with the name of the board, or use an id. list_boards returns the boards.`, r.noun)
	}
	var all, matches, archived []candidate
	for _, p := range places {
		records, err := l.records(ctx, p.board, r.noun, l.restores(r.noun))
		if err != nil {
			return "", err
		}
		all, matches, r.folded = append(all, records...), append(matches, exact(records, p.name)...), p.name
	}
	for _, p := range places {
		if matches != nil || r.noun != aList {
			break
		}
		records, err := l.records(ctx, p.board, r.noun, true)
		if err != nil {
			return "", err
		}
		archived = append(archived, exact(records, p.name)...)
	}
	if archived != nil {
		all = archived // they explain why there is no match
	}
	return l.choose(r, matches, all)
}

// records returns the lists or the labels of an entered board. Archived lists are separate.
func (l *lookup) records(ctx context.Context, boardID string, n noun, archived bool) ([]candidate, error) {
	key := boardID + string(n) + strconv.FormatBool(archived)
	if out, ok := l.loaded[key]; ok {
		return out, nil
	}
	out, name := []candidate{}, l.entered[boardID].Name
	switch {
	case n == aLabel:
		labels, err := l.Labels(ctx, boardID, "", "", l.Limits().Labels)
		if err != nil {
			return nil, err
		}
		for _, a := range labels { // a label without a name is called by its color
			out = append(out, candidate{ID: a.ID, Name: cmp.Or(a.Name, string(a.Color)), Color: a.Color, Board: name})
		}
	default:
		limit := l.Limits().OpenLists
		if archived {
			limit = maxRecords
		}
		lists, err := l.Lists(ctx, boardID, archived, "", limit)
		if err != nil {
			return nil, err
		}
		for _, a := range lists {
			if archived == (a.ArchivedAt != nil) {
				out = append(out, candidate{ID: a.ID, Name: a.Name, Board: name, Archived: archived})
			}
		}
	}
	l.loaded[key] = out
	return out, nil
}

// person finds someone in the workspace of the board of the call: by name, by email address
// or as me. If several people have the name, only those who can see the board count, except
// for sharing the board with others.
func (l *lookup) person(ctx context.Context, r reference) (string, error) {
	if r.folded == "me" {
		return l.Caller().UserID, nil
	}
	home, err := l.home(ctx, r)
	if err != nil {
		return "", err
	}
	if home == "" {
		return "", unknownName(r, nil, "the call does not say on which board the person is. Use an id.")
	}
	people, ok := l.people[home]
	if !ok {
		if people, err = l.People(ctx, store.CardPage{BoardID: home})(); err != nil {
			return "", err
		}
		l.people[home] = people
	}
	var all, matches []candidate
	for _, p := range people {
		c := candidate{ID: p.ID, Name: p.Name, Email: p.Email}
		if all = append(all, c); fold(p.Name) == r.folded || p.Email != "" && fold(p.Email) == r.folded {
			matches = append(matches, c)
		}
	}
	if len(matches) > 1 && l.tool != "share_board" {
		ids := make([]string, len(matches))
		for i, c := range matches {
			ids[i] = c.ID
		}
		onBoard, err := l.PeopleOf(ctx, home, ids)
		if err != nil {
			return "", err
		}
		if len(onBoard) > 0 {
			matches = slices.DeleteFunc(matches, func(c candidate) bool { return onBoard[c.ID].ID == "" })
		}
	}
	return l.choose(r, matches, all)
}

// card finds a card by its number: on a board whose name precedes the number, else on the
// board of the call, else on any open board that the caller can see.
func (l *lookup) card(ctx context.Context, r reference) (string, error) {
	boardName, digits := "", r.folded
	if i := strings.LastIndexByte(r.folded, '#'); i >= 0 {
		boardName, digits = strings.TrimSpace(r.folded[:i]), strings.TrimSpace(r.folded[i+1:])
	}
	number, err := strconv.ParseUint(digits, 10, 31)
	if err != nil {
		return "", unknownName(r, nil, `a card is an id, a number on the board of the call such as "#12", or `+
			`"Board #12" with the name of the board. search_cards finds cards by title.`)
	}
	var boards []string
	if boardName == "" {
		home, err := l.home(ctx, r)
		if err != nil {
			return "", err
		}
		boards = append(boards, home) // "" for any
	} else {
		named, err := l.named(ctx, r, func(name string) bool { return name == boardName })
		if err != nil {
			return "", err
		}
		if named == nil {
			_, err := l.board(ctx, reference{r.field, boardName, boardName, aBoard})
			return "", err
		}
		for _, b := range named {
			boards = append(boards, b.ID)
		}
	}
	var found []candidate
	for _, boardID := range boards {
		cards, err := l.CardsNumbered(ctx, boardID, int(number), maxCandidates+1)
		if err != nil {
			return "", err
		}
		for _, c := range cards {
			found = append(found, candidate{ID: c.ID, Name: c.Title, Board: c.BoardName})
		}
	}
	return l.choose(r, found, nil)
}
