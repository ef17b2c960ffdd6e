package mcp

import (
	"context"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cardwall/internal/board"
)

// boardContent is the content of a board resource.
type boardContent struct {
	Notice string           `json:"notice"`
	More   string           `json:"more,omitempty"` // the missing parts, and how to get them
	Board  jsonObject       `json:"board"`
	Labels []board.LabelRef `json:"labels"`
	Lists  []*listContent   `json:"lists"`
}

// listContent is a list in a board resource.
type listContent struct {
	ID        string           `json:"id"`
	Name      string           `json:"name"`
	OpenCards int              `json:"openCards"`
	WIPLimit  *int             `json:"wipLimit,omitempty"`
	Included  *int             `json:"includedCards,omitempty"` // set if not all cards are included
	Cards     []jsontext.Value `json:"cards"`
}

const (
	maxBoardCards = 800 // approximate number of cards read for a board resource; more than fit into it
	minListCards  = 5   // minimum number of cards read per list, if the list has that many
)

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
	c := &boardContent{Notice: untrusted, Board: jsonObject{}, Labels: []board.LabelRef{}, Lists: []*listContent{}}
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
	pages, err := e.firstCards(ctx, boardID, c.Lists)
	if err != nil {
		return nil, err
	}
	if err := c.addRows(c.Lists, pages, space); err != nil {
		return nil, err
	}
	cards := 0
	for _, l := range c.Lists {
		cards += len(l.Cards)
		if len(l.Cards) < l.OpenCards {
			l.Included = new(len(l.Cards))
		}
	}
	for _, p := range []struct {
		shown, all   int
		noun, others string
	}{
		{len(c.Lists), len(parts.Lists), "lists", "list_lists with boardId returns all"},
		{len(c.Labels), len(parts.Labels), "labels", "list_labels with boardId returns all"},
		{cards, parts.OpenCards, "cards", "about the same number from each list; list_cards with boardId and list " +
			"(the id of a list) returns all"},
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
		short := all[:min(len(all), maxResult/32)]
		c.Board["descriptionBeginning"] = string(short)
		missing = append(missing, fmt.Sprintf("descriptionBeginning has %d of the %d characters of the description: "+
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
// remaining space.
func (c *boardContent) addLabels(labels []board.LabelRef, space, limit int) (int, error) {
	for _, l := range labels {
		text, err := encodeContent(l)
		if err != nil {
			return 0, err
		}
		size := len(appendText(nil, text))
		if limit -= size; limit < 0 {
			break
		}
		space -= size
		c.Labels = append(c.Labels, l)
	}
	return space, nil
}

// openCard has the fields of a card that a board resource contains.
type openCard struct {
	ID        string           `json:"id"`
	Number    int              `json:"number"`
	Title     string           `json:"title"`
	Done      bool             `json:"done,omitzero"`
	Labels    []board.LabelRef `json:"labels"`
	Assignees []board.UserRef  `json:"assignees"`
	DueDate   *string          `json:"dueDate,omitempty"`
	DueAt     *string          `json:"dueAt,omitempty"`
}

// firstCards returns the first cards of each list, enough to fill a resource.
func (e *Endpoint) firstCards(ctx context.Context, boardID string, lists []*listContent) ([][]openCard, error) {
	limit := min(queryPageSize, max(minListCards, maxBoardCards/max(1, len(lists))))
	out := make([][]openCard, len(lists))
	for i, l := range lists {
		if l.OpenCards == 0 {
			continue
		}
		in := jsonObject{"boardId": boardID, "list": l.ID, "limit": limit}
		for len(out[i]) < maxBoardCards/len(lists) {
			page, cursor, err := queryAs[[]openCard](ctx, e, "list_cards", in)
			if err != nil {
				return nil, err
			}
			out[i] = append(out[i], page...)
			if cursor == "" {
				break
			}
			in["cursor"] = cursor
		}
	}
	return out, nil
}

// addRows adds the first card of each page to its list, then the second card of each page,
// and so on, until a card does not fit into the space.
func (c *boardContent) addRows(lists []*listContent, pages [][]openCard, space int) error {
	for turn, more := 0, true; more; turn++ {
		more = false
		for i, page := range pages {
			if turn >= len(page) {
				continue
			}
			card, err := encodeContent(page[turn])
			size := len(appendText(nil, card))
			if err != nil || size > space {
				return err
			}
			space -= size
			lists[i].Cards = append(lists[i].Cards, card)
			more = true
		}
	}
	return nil
}
