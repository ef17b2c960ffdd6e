package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"cardwall/internal/board"
)

// A resource contains everything that its description names if that fits into
// maxResult. Otherwise the parts share the available space. The more field then says
// which parts are incomplete, how much is missing, and which tool returns the rest.

// jsonObject is a JSON object.
type jsonObject = map[string]any

// resource is the content of a resource.
type resource struct {
	Notice   string       `json:"notice"`
	Board    jsonObject   `json:"board,omitempty"`
	Card     jsonObject   `json:"card,omitempty"`
	Cards    []jsonObject `json:"cards,omitzero"`
	Comments []jsonObject `json:"comments,omitzero"`
	More     string       `json:"more,omitempty"` // the missing parts, and how to get them
}

func (r resource) encode() ([]byte, error) {
	text, err := json.Marshal(r, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("encode a resource: %w", err)
	}
	return text, nil
}

const (
	reservedSize  = 2000 // bytes reserved for the notice and more fields
	maxBoardCards = 800  // approximate number of cards read for a board resource; more than fit into it
	queryPageSize = 200  // cards or comments per query
	minListCards  = 5    // minimum number of cards read per list, if the list has that many
)

// part is an object in a resource.
type part struct {
	value jsonObject
	size  int // bytes in the response, in which a resource is JSON inside a JSON string
}

func parts(values []jsonObject) ([]part, error) {
	out := make([]part, len(values))
	for i, v := range values {
		text, err := json.Marshal(v, json.Deterministic(true))
		if err != nil {
			return nil, fmt.Errorf("encode a part of a resource: %w", err)
		}
		out[i] = part{v, len(appendText(nil, text)) + 1}
	}
	return out, nil
}

// firstFitting returns the first parts that fit into the given space in bytes, and the
// remaining space.
func firstFitting(all []part, space int) ([]jsonObject, int) {
	out := []jsonObject{}
	for _, p := range all {
		if p.size > space {
			break
		}
		space -= p.size
		out = append(out, p.value)
	}
	return out, space
}

// objects returns the objects in an array.
func objects(v any) []jsonObject {
	values, _ := v.([]any)
	out := make([]jsonObject, 0, len(values))
	for _, v := range values {
		if o, ok := v.(jsonObject); ok {
			out = append(out, o)
		}
	}
	return out
}

// boardResource returns a board with its lists, labels and open cards.
func (e *Endpoint) boardResource(ctx context.Context, boardID string) ([]byte, error) {
	detail, _, err := queryAs[jsonObject](ctx, e, "get_board", jsonObject{"boardId": boardID})
	if err != nil {
		return nil, err
	}
	lists, labels := objects(detail["lists"]), objects(detail["labels"])
	cards, err := e.firstCards(ctx, boardID, lists)
	if err != nil {
		return nil, err
	}
	open, _ := detail["openCards"].(float64)
	full := resource{Notice: untrusted, Board: detail, Cards: slices.Concat(cards...)}
	if full.Cards == nil {
		full.Cards = []jsonObject{}
	}
	if len(full.Cards) == int(open) {
		if text, err := full.encode(); err != nil || fitsResource(success(text)) {
			return text, err
		}
	}
	return shortBoard(detail, lists, labels, cards, int(open))
}

// firstCards returns the first cards of each list, enough to fill a resource.
func (e *Endpoint) firstCards(ctx context.Context, boardID string, lists []jsonObject) ([][]jsonObject, error) {
	limit := min(queryPageSize, max(minListCards, maxBoardCards/max(1, len(lists))))
	out := make([][]jsonObject, len(lists))
	for i, l := range lists {
		if n, _ := l["openCards"].(float64); n == 0 {
			continue
		}
		in := jsonObject{"boardId": boardID, "list": l["id"], "view": "compact", "limit": limit}
		for len(out[i]) < maxBoardCards/len(lists) {
			page, cursor, err := queryAs[[]jsonObject](ctx, e, "list_cards", in)
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

// shortBoard returns a shortened board. Lists and labels can each use up to a quarter
// of the space. The cards use the rest, with about the same number from each list.
func shortBoard(detail jsonObject, lists, labels []jsonObject, cards [][]jsonObject, open int) ([]byte, error) {
	var missing []string
	out := resource{Notice: untrusted, Board: jsonObject{}}
	for name, v := range detail {
		if name != "lists" && name != "labels" {
			out.Board[name] = v
		}
	}
	if text, _ := detail["description"].(string); len(text) > maxResult/8 {
		delete(out.Board, "description")
		out.Board["descriptionBeginning"] = string([]rune(text)[:min(len([]rune(text)), maxResult/32)])
		missing = append(missing, "descriptionBeginning is only the beginning of the description; get_board returns all of it")
	}
	base, err := out.encode()
	if err != nil {
		return nil, err
	}
	space := maxResult - overhead - reservedSize - len(appendText(nil, base))
	listParts, err := parts(selectFields(lists, "id", "name", "openCards", "wipLimit"))
	if err != nil {
		return nil, err
	}
	labelParts, err := parts(selectFields(labels, "id", "name", "color"))
	if err != nil {
		return nil, err
	}
	quarter := space / 4
	shownLists, remaining := firstFitting(listParts, quarter)
	space -= quarter - remaining
	shownLabels, remaining := firstFitting(labelParts, quarter)
	space -= quarter - remaining
	out.Board["lists"], out.Board["labels"] = shownLists, shownLabels
	if out.Cards, err = roundRobin(cards, space); err != nil {
		return nil, err
	}
	missing = append(missing, "lists, labels and cards have only some of their fields; get_board and get_card return all")
	for _, part := range []struct {
		noun, tool string
		shown, all int
	}{
		{"lists", "list_lists", len(shownLists), len(lists)},
		{"labels", "list_labels", len(shownLabels), len(labels)},
		{"cards (the first of each list)", "list_cards with a list", len(out.Cards), open},
	} {
		if part.shown < part.all {
			missing = append(missing, fmt.Sprintf("%d of %d %s are included; %s returns the others",
				part.shown, part.all, part.noun, part.tool))
		}
	}
	out.More = "Shortened to stay below 60 kB: " + strings.Join(missing, ". ") + "."
	return out.encode()
}

// roundRobin selects the first card of each list, then the second card of each list,
// and so on, as long as the cards fit into the space. It returns the cards in the order
// of the lists.
func roundRobin(cards [][]jsonObject, space int) ([]jsonObject, error) {
	short := make([][]part, len(cards))
	for i, list := range cards {
		var err error
		if short[i], err = parts(selectFields(list, "id", "listId", "number", "title", "done", "dueDate", "dueAt")); err != nil {
			return nil, err
		}
	}
	taken := make([]int, len(cards))
	for turn, more := 0, true; more; turn++ {
		more = false
		for i, list := range short {
			if turn < len(list) && taken[i] == turn && list[turn].size <= space {
				space -= list[turn].size
				taken[i]++
				more = true
			}
		}
	}
	out := []jsonObject{}
	for i, list := range short {
		for _, p := range list[:taken[i]] {
			out = append(out, p.value)
		}
	}
	return out, nil
}

// selectFields returns copies of objects with only the given fields. It omits fields
// whose value is null or false.
func selectFields(all []jsonObject, names ...string) []jsonObject {
	out := make([]jsonObject, len(all))
	for i, o := range all {
		out[i] = jsonObject{}
		for _, name := range names {
			if v, ok := o[name]; ok && v != nil && v != false {
				out[i][name] = v
			}
		}
	}
	return out
}

// cardResource returns a card with its checklists and comments.
func (e *Endpoint) cardResource(ctx context.Context, boardID, cardID string) ([]byte, error) {
	card, _, err := queryAs[jsonObject](ctx, e, "get_card", jsonObject{"cardId": cardID})
	if err != nil {
		return nil, err
	}
	if card["boardId"] != boardID {
		return nil, board.NotFound()
	}
	out := resource{Notice: untrusted, Card: card, Comments: []jsonObject{}}
	base, err := out.encode()
	if err != nil {
		return nil, err
	}
	space := maxResult - overhead - reservedSize - len(appendText(nil, base))
	var missing []string
	if space < 0 {
		if out.Card, missing, err = shortCard(card); err != nil {
			return nil, err
		}
		space = 0
	}
	in := jsonObject{"cardId": cardID, "limit": queryPageSize}
	for done := space == 0; !done; {
		page, cursor, err := queryAs[[]jsonObject](ctx, e, "list_comments", in)
		if err != nil {
			return nil, err
		}
		all, err := parts(page)
		if err != nil {
			return nil, err
		}
		var fitting []jsonObject
		fitting, space = firstFitting(all, space)
		out.Comments = append(out.Comments, fitting...)
		done = len(fitting) < len(page) || cursor == ""
		in["cursor"] = cursor
	}
	if n, _ := card["comments"].(float64); len(out.Comments) < int(n) {
		missing = append(missing, fmt.Sprintf("%d of %d comments are included; list_comments returns all", len(out.Comments), int(n)))
	}
	if missing != nil {
		out.More = "Shortened to stay below 60 kB: " + strings.Join(missing, "; ") + "."
	}
	return out.encode()
}

// shortCard returns a shortened card and a list of its omitted parts. A truncated
// description is named descriptionBeginning, so that an assistant does not write it
// back as the description.
func shortCard(card jsonObject) (jsonObject, []string, error) {
	var omitted []string
	out, err := shorten(card, func(o outcome) bool {
		return fitsResource(outcome{text: append(o.text, make([]byte, reservedSize)...)})
	},
		func(all []string) string { omitted = all; return "" })
	if err != nil {
		return nil, nil, err
	}
	var short jsonObject
	if err := json.Unmarshal(out.body, &short); err != nil {
		return nil, nil, fmt.Errorf("decode a shortened card: %w", err)
	}
	delete(short, "shortened")
	if short["description"] != card["description"] {
		short["descriptionBeginning"] = short["description"]
		delete(short, "description")
	}
	const named = 8
	if len(omitted) > named {
		omitted = append(slices.Clone(omitted[:named]), fmt.Sprintf("and %d more", len(omitted)-named))
	}
	return short, append(omitted, "get_card and list_comments return the rest"), nil
}
