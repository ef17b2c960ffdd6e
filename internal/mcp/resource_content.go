package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"cardwall/internal/board"
)

// A resource holds everything that its description names, if it fits into
// maxResult. If not, the parts share the room. The field more then says which
// parts are incomplete, how much is missing, and which tool returns the rest.

// jsonObject is a JSON object.
type jsonObject = map[string]any

// resource is the content of a resource.
type resource struct {
	Notice   string       `json:"notice"`
	Board    jsonObject   `json:"board,omitempty"`
	Card     jsonObject   `json:"card,omitempty"`
	Cards    []jsonObject `json:"cards,omitzero"`
	Comments []jsonObject `json:"comments,omitzero"`
	More     string       `json:"more,omitempty"` // what is missing, and how to get it
}

func (r resource) encode() ([]byte, error) {
	text, err := json.Marshal(r, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("encode a resource: %w", err)
	}
	return text, nil
}

const (
	moreRoom    = 2000 // bytes for the notice and for what is missing
	mostCards   = 800  // cards read for a board resource; more than fit
	cardsAPage  = 200
	leastOfList = 5 // cards read of each list, if it has them
)

// part is a value as a part of a resource, where it is JSON inside a JSON string.
type part struct {
	value jsonObject
	size  int
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

// take returns the first parts that fit into room, and the room that is left.
func take(all []part, room int) ([]jsonObject, int) {
	out := []jsonObject{}
	for _, p := range all {
		if p.size > room {
			break
		}
		room -= p.size
		out = append(out, p.value)
	}
	return out, room
}

// objects returns the elements of an array of objects.
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
	detail, _, err := decoded[jsonObject](ctx, e, "get_board", jsonObject{"boardId": boardID})
	if err != nil {
		return nil, err
	}
	lists, labels := objects(detail["lists"]), objects(detail["labels"])
	cards, err := e.firstCards(ctx, boardID, lists)
	if err != nil {
		return nil, err
	}
	open, _ := detail["openCards"].(float64)
	whole := resource{Notice: untrusted, Board: detail, Cards: slices.Concat(cards...)}
	if whole.Cards == nil {
		whole.Cards = []jsonObject{}
	}
	if len(whole.Cards) == int(open) {
		if text, err := whole.encode(); err != nil || smallEnough(record(text)) {
			return text, err
		}
	}
	return shortBoard(detail, lists, labels, cards, int(open))
}

// firstCards returns the first cards of each list, enough to fill a resource.
func (e *Endpoint) firstCards(ctx context.Context, boardID string, lists []jsonObject) ([][]jsonObject, error) {
	limit := min(cardsAPage, max(leastOfList, mostCards/max(1, len(lists))))
	out := make([][]jsonObject, len(lists))
	for i, l := range lists {
		if n, _ := l["openCards"].(float64); n == 0 {
			continue
		}
		in := jsonObject{"boardId": boardID, "list": l["id"], "view": "compact", "limit": limit}
		for len(out[i]) < mostCards/len(lists) {
			page, cursor, err := decoded[[]jsonObject](ctx, e, "list_cards", in)
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

// shortBoard returns a board that does not fit as a whole. Lists and labels get up
// to a quarter of the room each. The cards get the rest, taken from each list in
// turn.
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
		missing = append(missing, "descriptionBeginning is not the whole description; get_board returns it")
	}
	base, err := out.encode()
	if err != nil {
		return nil, err
	}
	room := maxResult - overhead - moreRoom - len(appendText(nil, base))
	listParts, err := parts(only(lists, "id", "name", "openCards", "wipLimit"))
	if err != nil {
		return nil, err
	}
	labelParts, err := parts(only(labels, "id", "name", "color"))
	if err != nil {
		return nil, err
	}
	quarter := room / 4
	shownLists, left := take(listParts, quarter)
	room -= quarter - left
	shownLabels, left := take(labelParts, quarter)
	room -= quarter - left
	out.Board["lists"], out.Board["labels"] = shownLists, shownLabels
	if out.Cards, err = inTurns(cards, room); err != nil {
		return nil, err
	}
	missing = append(missing, "lists, labels and cards have only some of their fields; get_board and get_card return all")
	for _, part := range []struct {
		what, tool string
		shown, all int
	}{
		{"lists", "list_lists", len(shownLists), len(lists)},
		{"labels", "list_labels", len(shownLabels), len(labels)},
		{"open cards (the first of each list)", "list_cards with a list", len(out.Cards), open},
	} {
		if part.shown < part.all {
			missing = append(missing, fmt.Sprintf("%d of %d %s are here; %s returns the others", part.shown, part.all, part.what, part.tool))
		}
	}
	out.More = "Shortened to stay below 60 kB: " + strings.Join(missing, ". ") + "."
	return out.encode()
}

// inTurns takes the first card of each list, then the second of each, and so on,
// while they fit. It returns them in the order of the lists.
func inTurns(cards [][]jsonObject, room int) ([]jsonObject, error) {
	short := make([][]part, len(cards))
	for i, list := range cards {
		var err error
		if short[i], err = parts(only(list, "id", "listId", "number", "title", "done", "dueDate", "dueAt")); err != nil {
			return nil, err
		}
	}
	taken := make([]int, len(cards))
	for turn, more := 0, true; more; turn++ {
		more = false
		for i, list := range short {
			if turn < len(list) && taken[i] == turn && list[turn].size <= room {
				room -= list[turn].size
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

// only returns objects with only these fields, without null and false.
func only(all []jsonObject, names ...string) []jsonObject {
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
	card, _, err := decoded[jsonObject](ctx, e, "get_card", jsonObject{"cardId": cardID})
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
	room := maxResult - overhead - moreRoom - len(appendText(nil, base))
	var missing []string
	if room < 0 {
		if out.Card, missing, err = shortCard(card); err != nil {
			return nil, err
		}
		room = 0
	}
	in := jsonObject{"cardId": cardID, "limit": cardsAPage}
	for full := room == 0; !full; {
		page, cursor, err := decoded[[]jsonObject](ctx, e, "list_comments", in)
		if err != nil {
			return nil, err
		}
		all, err := parts(page)
		if err != nil {
			return nil, err
		}
		var fitting []jsonObject
		fitting, room = take(all, room)
		out.Comments = append(out.Comments, fitting...)
		full = len(fitting) < len(page) || cursor == ""
		in["cursor"] = cursor
	}
	if n, _ := card["comments"].(float64); len(out.Comments) < int(n) {
		missing = append(missing, fmt.Sprintf("%d of %d comments are here; list_comments returns all", len(out.Comments), int(n)))
	}
	if missing != nil {
		out.More = "Shortened to stay below 60 kB: " + strings.Join(missing, "; ") + "."
	}
	return out.encode()
}

// shortCard shortens a card that does not fit. A description that is not whole gets
// another name, so that nobody writes it back.
func shortCard(card jsonObject) (jsonObject, []string, error) {
	var omitted []string
	out, err := shorten(card, func(o outcome) bool { return smallEnough(outcome{text: append(o.text, make([]byte, moreRoom)...)}) },
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
