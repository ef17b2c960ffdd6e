package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/go-json-experiment/json"

	"cardwall/perf/client"
	"cardwall/perf/document"
)

// apiPath is the prefix of the public REST API.
const apiPath = "/api/public/v1"

// applicationPath is the prefix of the API for the pages.
const applicationPath = "/api/app/v1"

// listsPerBoard is how many lists a board has.
const listsPerBoard = 4

// pageSize is the limit of every list request.
const pageSize = 50

// board is a filled board.
type board struct {
	id    string
	lists []string
	cards []card
}

type card struct{ id, list string }

// fixture creates the boards of the measures, each when it is first needed.
type fixture struct {
	addrs     []string // of the nodes, over which clients are distributed
	token     string
	turn      atomic.Int64
	workspace string
	clients   int
	progress  func(format string, args ...any)
	names     func() string // unique names for clients
	boards    map[string]*board
	cursors   map[string][]string
}

// client returns a new client of one of the nodes.
func (f *fixture) client() *client.Client {
	return client.New(f.addrs[int(f.turn.Add(1))%len(f.addrs)], f.token, f.names())
}

// call sends a request to the public API and decodes the "data" of the response into out, unless that is nil.
func call(c *client.Client, method, path string, in any, want int, out any) error {
	return ask(c, method, apiPath+path, in, want, out)
}

// ask is like call for a path with its prefix.
func ask(c *client.Client, method, path string, in any, want int, out any) error {
	r := client.Request{Method: method, Path: []byte(path), Want: want}
	if in != nil {
		var err error
		if r.Body, err = json.Marshal(in); err != nil {
			return fmt.Errorf("encode body of %s %s: %w", method, path, err)
		}
	}
	status, body, err := c.Do(&r)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	if status != want {
		return fmt.Errorf("%s %s: status %d instead of %d: %s", method, path, status, want, client.Clip(body))
	}
	envelope := struct {
		Data any `json:"data"`
	}{out}
	if err := json.Unmarshal(body, &envelope); err != nil {
		return fmt.Errorf("%s %s: decode response: %w", method, path, err)
	}
	return nil
}

// record is what the fixture reads of any record.
type record struct {
	ID string `json:"id"`
}

// emptyBoard creates a board with lists and no cards.
func (f *fixture) emptyBoard(c *client.Client, name string) (*board, error) {
	var made record
	in := map[string]any{"workspaceId": f.workspace, "name": name}
	if err := call(c, "POST", "/boards", in, 201, &made); err != nil {
		return nil, err
	}
	b := &board{id: made.ID}
	for i := range listsPerBoard {
		in := map[string]any{"name": "List " + strconv.Itoa(i+1)}
		if err := call(c, "POST", "/boards/"+b.id+"/lists", in, 201, &made); err != nil {
			return nil, err
		}
		b.lists = append(b.lists, made.ID)
	}
	return b, nil
}

// board returns the board with the name and n cards. The first call creates it, with all clients at once. Every fifth card
// has a label, every tenth an assignee.
func (f *fixture) board(ctx context.Context, name string, n int) (*board, error) {
	if b := f.boards[name]; b != nil {
		return b, nil
	}
	f.progress("filling board %q with %d cards", name, n)
	c := f.client()
	defer c.Close()
	var me record
	if err := call(c, "GET", "/me", nil, 200, &me); err != nil {
		return nil, err
	}
	b, err := f.emptyBoard(c, name)
	if err != nil {
		return nil, err
	}
	var label record
	in := map[string]any{"name": "Urgent", "color": "red"}
	if err := call(c, "POST", "/boards/"+b.id+"/labels", in, 201, &label); err != nil {
		return nil, err
	}

	b.cards = make([]card, n)
	faults := make([]error, f.clients)
	var running sync.WaitGroup
	for first := range f.clients {
		c := f.client()
		running.Go(func() {
			defer c.Close()
			for i := first; i < n && faults[first] == nil && ctx.Err() == nil; i += f.clients {
				b.cards[i], faults[first] = fillCard(c, b, i, label.ID, me.ID)
			}
		})
	}
	running.Wait()
	if err := errors.Join(append(faults, ctx.Err())...); err != nil {
		return nil, fmt.Errorf("fill board %q: %w", name, err)
	}
	f.boards[name] = b
	return b, nil
}

// urgent reports whether card number i of a board has the label Urgent.
func urgent(i int) bool { return i%5 == 0 }

// fillCard creates card number i of a board.
func fillCard(c *client.Client, b *board, i int, label, assignee string) (card, error) {
	list := b.lists[i%len(b.lists)]
	in := map[string]any{"listId": list, "title": "Card " + strconv.Itoa(i+1), "description": document.Text}
	var made record
	if err := call(c, "POST", "/cards", in, 201, &made); err != nil {
		return card{}, err
	}
	if urgent(i) {
		in := map[string]any{"add": []string{label}}
		if err := call(c, "PATCH", "/cards/"+made.ID+"/labels", in, 200, nil); err != nil {
			return card{}, err
		}
	}
	if i%10 == 0 {
		in := map[string]any{"add": []string{assignee}}
		if err := call(c, "PATCH", "/cards/"+made.ID+"/assignees", in, 200, nil); err != nil {
			return card{}, err
		}
	}
	return card{id: made.ID, list: list}, nil
}

// pages lists a whole board once and returns the cursor of every page; that of the first page is empty. It is an error if a
// card is missing or repeated, or if the list does not end.
func (f *fixture) pages(ctx context.Context, b *board) ([]string, error) {
	if cursors := f.cursors[b.id]; cursors != nil {
		return cursors, nil
	}
	c := f.client()
	defer c.Close()
	cursors := []string{""}
	seen := make(map[string]bool, len(b.cards))
	for ctx.Err() == nil {
		r := client.Request{Method: "GET", Want: 200}
		r.Path = appendPage(r.Path, pagePath(b), cursors[len(cursors)-1])
		status, body, err := c.Do(&r)
		if err != nil {
			return nil, fmt.Errorf("list board: %w", err)
		}
		if status != r.Want {
			return nil, fmt.Errorf("list board: status %d: %s", status, client.Clip(body))
		}
		var page struct {
			Data       []record `json:"data"`
			NextCursor string   `json:"nextCursor"`
		}
		if err := json.Unmarshal(body, &page); err != nil {
			return nil, fmt.Errorf("list board: decode response: %w", err)
		}
		for _, card := range page.Data {
			if seen[card.ID] {
				return nil, fmt.Errorf("list board: card %s is listed twice", card.ID)
			}
			seen[card.ID] = true
		}
		if page.NextCursor == "" {
			break
		}
		if len(page.Data) == 0 {
			return nil, errors.New("list board: an empty page has a next cursor")
		}
		cursors = append(cursors, page.NextCursor)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(seen) != len(b.cards) {
		return nil, fmt.Errorf("list board: %d cards are listed instead of %d", len(seen), len(b.cards))
	}
	f.cursors[b.id] = cursors
	return cursors, nil
}

// pagePath returns the path of the first page of a board, to which a cursor can be added.
func pagePath(b *board) string {
	return apiPath + "/boards/" + b.id + "/cards?limit=" + strconv.Itoa(pageSize)
}

// appendPage appends base and the cursor, unless that is empty.
func appendPage(path []byte, base, cursor string) []byte {
	path = append(path, base...)
	if cursor != "" {
		path = append(path, "&cursor="...)
		path = append(path, url.QueryEscape(cursor)...)
	}
	return path
}
