package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

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
		if text, err := encodeContent(full); err != nil || fitsResource(success(text)) {
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
	space, err := spaceIn(out)
	if err != nil {
		return nil, err
	}
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
	return encodeContent(out)
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
