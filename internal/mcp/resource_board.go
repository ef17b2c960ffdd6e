package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cardwall/internal/board"
)

// boardContent is the content of a board resource. It is compact, because a model reads
// all of it: cards are rows whose columns are named once, and they refer to labels and
// people by name. Indexes would save four tokens per card, but are easy to confuse.
type boardContent struct {
	Notice  string              `json:"notice"`
	More    string              `json:"more,omitempty"` // the missing parts, and how to get them
	Board   jsonObject          `json:"board"`
	Labels  map[string]labelRef `json:"labels"` // by name
	People  map[string]string   `json:"people"` // ids by name
	Format  string              `json:"format"`
	Columns []string            `json:"columns"`
	Lists   []*listContent      `json:"lists"`

	labelNames, personNames names
}

type labelRef struct {
	ID    string      `json:"id"`
	Color board.Color `json:"color"`
}

// listContent is a list in a board resource.
type listContent struct {
	ID        string           `json:"id"`
	Name      string           `json:"name"`
	OpenCards int              `json:"openCards"`
	WIPLimit  *int             `json:"wipLimit,omitempty"`
	Included  *int             `json:"includedCards,omitempty"` // set if not all cards are included
	Next      string           `json:"nextCursor,omitempty"`    // cursor of list_cards for the other cards
	Cards     []jsontext.Value `json:"cards"`
}

const rowFormat = "A card is a row of columns; null and false are left out at its end. Tools take a card as \"#number\" with the " +
	"name of the board before it. labels and assignees are one name or an array of names; the objects labels and people have the " +
	"ids. A label without a name is called by its color. " + `Equal names are numbered: "Ada", "Ada (2)". ` +
	"get_card returns the other fields of a card, get_board those of the board, its lists and labels."

var rowColumns = []string{"number", "title", "labels", "assignees", "due", "done"}

const (
	typicalRow = 100 // estimated bytes per card, before any card has been read
	cursorSize = 200 // bytes reserved for the cursor of a list

	// boardPart is the number of characters that are included of a long description.
	boardPart = 18 * textStep
)

// names gives each record a different name.
type names struct{ byID, idOf map[string]string }

func newNames() names { return names{map[string]string{}, map[string]string{}} }

// of returns the name for a record, which is new if the record had none before.
func (n names) of(id, name string) (unique string, isNew bool) {
	if unique, ok := n.byID[id]; ok {
		return unique, false
	}
	unique = name
	for i := 2; n.idOf[unique] != ""; i++ {
		unique = fmt.Sprintf("%s (%d)", name, i)
	}
	n.byID[id], n.idOf[unique] = unique, id
	return unique, true
}

// boardResource returns a board with its lists, labels and open cards.
func (e *Endpoint) boardResource(ctx context.Context, boardID string) ([]byte, error) {
	data, _, err := e.query(ctx, "get_board", jsonObject{"boardId": boardID})
	if err != nil {
		return nil, err
	}
	var (
		detail jsonObject
		parts  struct {
			OpenCards int              `json:"openCards"`
			Lists     []*listContent   `json:"lists"`
			Labels    []board.LabelRef `json:"labels"`
		}
	)
	for _, into := range []any{&detail, &parts} {
		if err := json.Unmarshal(data, into); err != nil {
			return nil, fmt.Errorf("decode a board: %w", err)
		}
	}
	c := &boardContent{
		Notice: untrusted, Board: jsonObject{}, Labels: map[string]labelRef{}, People: map[string]string{},
		Format: rowFormat, Columns: rowColumns, Lists: []*listContent{}, labelNames: newNames(), personNames: newNames(),
	}
	missing := c.addBoard(detail)
	space, err := spaceIn(c)
	if err != nil {
		return nil, err
	}
	if space, err = c.addLists(parts.Lists, space, space/2); err != nil {
		return nil, err
	}
	if space, err = c.addLabels(parts.Labels, space, space/3); err != nil {
		return nil, err
	}
	if err := e.addCards(ctx, c, space); err != nil {
		return nil, err
	}
	cards := 0
	for _, l := range c.Lists {
		cards += len(l.Cards)
	}
	for _, p := range []struct {
		shown, all   int
		noun, others string
	}{
		{len(c.Lists), len(parts.Lists), "lists", "list_lists with boardId returns all"},
		{len(c.Labels), len(parts.Labels), "labels", "list_labels with boardId returns all"},
		{cards, parts.OpenCards, "cards", "about the same number from each list; list_cards with boardId, list " +
			"(the id of a list) and cursor (its nextCursor, if it has one) returns the others"},
	} {
		if p.shown < p.all {
			missing = append(missing, fmt.Sprintf("%d of %d %s are included: %s", p.shown, p.all, p.noun, p.others))
		}
	}
	if missing != nil {
		c.More = "Shortened to stay below 60 kB. " + strings.Join(missing, ". ") + "."
	}
	return encodeContent(c)
}

// addBoard adds the fields of the board itself. It returns what it omitted.
func (c *boardContent) addBoard(detail jsonObject) (missing []string) {
	for _, name := range []string{
		"id", "workspaceId", "name", "description", "visibility", "role", "version", "openCards", "unfinishedCards", "archivedAt", "url",
	} {
		if v := detail[name]; v != nil && v != "" {
			c.Board[name] = v
		}
	}
	text, _ := detail["description"].(string)
	if len(text) > maxResult/8 {
		delete(c.Board, "description") // so that an assistant does not write the beginning back as the description
		all := []rune(text)
		short := all[:min(len(all), boardPart)]
		c.Board["descriptionPart"] = string(short)
		missing = append(missing, fmt.Sprintf("descriptionPart has %d of the %d characters of the description: "+
			"get_board with boardId returns all", len(short), len(all)))
	}
	return missing
}

// addLists adds the first lists that fit into a part of the space. It returns the
// remaining space.
func (c *boardContent) addLists(lists []*listContent, space, limit int) (int, error) {
	for _, l := range lists {
		l.Cards = []jsontext.Value{}
		text, err := encodeContent(l)
		if err != nil {
			return 0, err
		}
		size := len(appendText(nil, text))
		if limit -= size; limit < 0 {
			break
		}
		space -= size
		c.Lists = append(c.Lists, l)
	}
	return space, nil
}

// addLabels adds the first labels that fit into a part of the space. It returns the
// remaining space. A label without a name is named after its color.
func (c *boardContent) addLabels(labels []board.LabelRef, space, limit int) (int, error) {
	for _, l := range labels {
		name, ref := c.label(l), labelRef{l.ID, l.Color}
		text, err := encodeContent(map[string]labelRef{name: ref})
		if err != nil {
			return 0, err
		}
		size := len(appendText(nil, text))
		if limit -= size; limit < 0 {
			continue // cards can have the other labels, too
		}
		space -= size
		c.Labels[name] = ref
	}
	return space, nil
}

func (c *boardContent) label(l board.LabelRef) string {
	unique, _ := c.labelNames.of(l.ID, labelName(l))
	return unique
}

// row returns the row of a card, the people who are not in the board's people yet, and
// the size of both in bytes.
func (c *boardContent) row(card card) (row jsontext.Value, people map[string]string, size int, err error) {
	people = map[string]string{}
	var labels, assignees []string
	for _, l := range card.Labels {
		labels = append(labels, c.label(l))
	}
	for _, u := range card.Assignees {
		name, isNew := c.personNames.of(u.ID, u.Name)
		if isNew {
			people[name] = u.ID
		}
		assignees = append(assignees, name)
	}
	values := withoutNullsAtEnd([]any{
		card.Number, card.Title, oneOrAll(labels), oneOrAll(assignees), dateOrInstant(card.DueDate, card.DueAt), trueOrNull(card.Done),
	})
	if row, err = encodeContent(values); err != nil {
		return nil, nil, 0, err
	}
	if size = len(appendText(nil, row)); len(people) > 0 {
		added, err := encodeContent(people)
		return row, people, size + len(appendText(nil, added)), err
	}
	return row, people, size, nil
}

// addCards adds cards of every list until the space is used up. If there are too many
// lists for a cursor each, a reader has to start at the beginning of a list.
func (e *Endpoint) addCards(ctx context.Context, c *boardContent, space int) error {
	unread := slices.DeleteFunc(slices.Clone(c.Lists), func(l *listContent) bool { return l.OpenCards == 0 })
	reserved := cursorSize
	if len(unread)*cursorSize > space/4 {
		reserved = 0
	}
	if err := e.fillLists(ctx, c, unread, space-len(unread)*reserved, reserved); err != nil {
		return err
	}
	for _, l := range c.Lists {
		if len(l.Cards) < l.OpenCards {
			l.Included = new(len(l.Cards))
		}
		if reserved == 0 {
			l.Next = ""
		}
	}
	return nil
}

// fillLists reads the same number of cards from each list, and again from each list that
// has more, until the space is used up. So a list with few cards leaves its share to the
// others, and few cards are read that do not fit. A complete list also leaves the bytes
// that are reserved for its cursor.
func (e *Endpoint) fillLists(ctx context.Context, c *boardContent, unread []*listContent, space, reserved int) error {
	rows, size := 0, 0
	for full := false; len(unread) > 0 && !full; {
		rowSize := typicalRow
		if rows > 0 {
			rowSize = max(1, size/rows)
		}
		limit := min(queryPageSize, space/(len(unread)*rowSize))
		if limit <= 0 && rows > 0 {
			break
		}
		limit = max(1, limit)
		pages, next := make([][]card, len(unread)), make([]string, len(unread))
		for i, l := range unread {
			var err error
			if pages[i], next[i], err = e.cardsOf(ctx, c, l, limit); err != nil {
				return err
			}
		}
		taken, remaining, err := c.addRows(unread, pages, space)
		if err != nil {
			return err
		}
		size, space = size+space-remaining, remaining
		for i, l := range unread {
			rows += taken[i]
			switch {
			case taken[i] == len(pages[i]):
				if l.Next = next[i]; l.Next == "" {
					space += reserved
				}
				continue
			case taken[i] > 0 && reserved > 0: // read again for the cursor after the last row
				if _, l.Next, err = e.cardsOf(ctx, c, l, taken[i]); err != nil {
					return err
				}
			}
			full = true
		}
		unread = slices.DeleteFunc(unread, func(l *listContent) bool { return l.Next == "" })
	}
	return nil
}

// cardsOf returns the next cards of a list, and the cursor after them.
func (e *Endpoint) cardsOf(ctx context.Context, c *boardContent, l *listContent, limit int) ([]card, string, error) {
	in := jsonObject{"boardId": c.Board["id"], "list": l.ID, "limit": limit}
	if l.Next != "" {
		in["cursor"] = l.Next
	}
	return queryAs[[]card](ctx, e, "list_cards", in)
}

// addRows adds the first card of each page to its list, then the second card of each page,
// and so on, until a card does not fit into the space. It returns how many cards of each
// page it added, and the remaining space.
func (c *boardContent) addRows(lists []*listContent, pages [][]card, space int) (taken []int, remaining int, err error) {
	taken = make([]int, len(lists))
	for turn, more := 0, true; more; turn++ {
		more = false
		for i, page := range pages {
			if turn >= len(page) {
				continue
			}
			row, people, size, err := c.row(page[turn])
			if err != nil || size > space {
				return taken, space, err
			}
			for name, id := range people {
				c.People[name] = id
			}
			space -= size
			lists[i].Cards = append(lists[i].Cards, row)
			taken[i]++
			more = true
		}
	}
	return taken, space, nil
}
