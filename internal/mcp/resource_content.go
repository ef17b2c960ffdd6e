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
// maxResult. Otherwise the more field says which parts are incomplete, how much is
// missing, and which tool returns the rest.

// jsonObject is a JSON object.
type jsonObject = map[string]any

// cardContent is the content of a card resource.
type cardContent struct {
	Notice   string       `json:"notice"`
	Card     jsonObject   `json:"card"`
	Comments []jsonObject `json:"comments"`
	More     string       `json:"more,omitempty"` // the missing parts, and how to get them
}

// encodeContent encodes a resource, or a part of it.
func encodeContent(v any) ([]byte, error) {
	text, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("encode a resource: %w", err)
	}
	return text, nil
}

// spaceIn returns how many bytes a response has left for more content.
func spaceIn(content any) (int, error) {
	text, err := encodeContent(content)
	return maxResult - overhead - reservedSize - len(appendText(nil, text)), err
}

const (
	reservedSize  = 2000 // bytes reserved for the notice and more fields
	queryPageSize = 200  // maximum number of cards or comments per query
)

// part is an object in a resource.
type part struct {
	value jsonObject
	size  int // bytes in the response, in which a resource is JSON inside a JSON string
}

func parts(values []jsonObject) ([]part, error) {
	out := make([]part, len(values))
	for i, v := range values {
		text, err := encodeContent(v)
		if err != nil {
			return nil, err
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

// cardResource returns a card with its checklists and comments.
func (e *Endpoint) cardResource(ctx context.Context, boardID, cardID string) ([]byte, error) {
	card, _, err := queryAs[jsonObject](ctx, e, "get_card", jsonObject{"cardId": cardID})
	if err != nil {
		return nil, err
	}
	if card["boardId"] != boardID {
		return nil, board.NotFound()
	}
	out := cardContent{Notice: untrusted, Card: card, Comments: []jsonObject{}}
	space, err := spaceIn(out)
	if err != nil {
		return nil, err
	}
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
	return encodeContent(out)
}

// shortCard returns a shortened card and a list of its omitted parts.
func shortCard(card jsonObject) (jsonObject, []string, error) {
	var omitted []string
	out, err := shorten(card, func(o outcome) bool {
		return fitsResource(outcome{text: append(o.text, make([]byte, reservedSize)...)})
	},
		func(all []string, _ int) string { omitted = all; return "" })
	if err != nil {
		return nil, nil, err
	}
	var short jsonObject
	if err := json.Unmarshal(out.body, &short); err != nil {
		return nil, nil, fmt.Errorf("decode a shortened card: %w", err)
	}
	delete(short, "shortened")
	const named = 8
	if len(omitted) > named {
		omitted = append(slices.Clone(omitted[:named]), fmt.Sprintf("and %d more", len(omitted)-named))
	}
	return short, append(omitted, "get_card and list_comments return the rest"), nil
}
