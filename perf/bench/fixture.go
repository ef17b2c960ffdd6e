package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
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

// listsPerBoard is the number of lists on a board.
const listsPerBoard = 4

// pageSize is the number of records per page in the measured list requests.
const pageSize = 50

// board is a board with its lists and cards.
type board struct {
	id    string
	lists []string
	cards []card
}

type card struct{ id, list string }

// fixture creates the boards of the benchmarks on first use.
type fixture struct {
	addrs     []string // addresses of the servers; clients are distributed over them
	token     string
	next      atomic.Int64 // number of the next client
	workspace string
	clients   int
	progress  func(format string, args ...any)
	names     func() string // returns unique names for clients
	boards    map[string]*board
	cursors   map[string][]string
}

// client returns a new client. Consecutive clients use different servers.
func (f *fixture) client() *client.Client {
	return client.New(f.addrs[int(f.next.Add(1))%len(f.addrs)], f.token, f.names())
}

// call sends a request to the public API and decodes the "data" of the response into out, unless out is nil. It returns
// an error if the status is not want.
func call(c *client.Client, method, path string, in any, want int, out any) error {
	return callPath(c, method, apiPath+path, in, want, out)
}

// callPath is like call, but the path includes the prefix of the API.
func callPath(c *client.Client, method, path string, in any, want int, out any) error {
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
		return fmt.Errorf("%s %s: got status %d, want %d: %s", method, path, status, want, client.Clip(body))
	}
	envelope := struct {
		Data any `json:"data"`
	}{out}
	if err := json.Unmarshal(body, &envelope); err != nil {
		return fmt.Errorf("%s %s: decode response: %w", method, path, err)
	}
	return nil
}

// record is the part of a record that the benchmarks read.
type record struct {
	ID string `json:"id"`
}

// newFixture returns a fixture that fills a workspace on the servers with the given addresses.
func (s *suite) newFixture(token, workspace string, addrs ...string) *fixture {
	return &fixture{
		addrs: addrs, token: token, workspace: workspace, clients: s.clients, progress: s.progress,
		names: s.names, boards: make(map[string]*board), cursors: make(map[string][]string),
	}
}

// emptyBoard creates a board with lists and no cards.
func (f *fixture) emptyBoard(c *client.Client, name string) (*board, error) {
	var created record
	in := map[string]any{"workspaceId": f.workspace, "name": name}
	if err := call(c, "POST", "/boards", in, 201, &created); err != nil {
		return nil, err
	}
	b := &board{id: created.ID}
	for i := range listsPerBoard {
		in := map[string]any{"name": "List " + strconv.Itoa(i+1)}
		if err := call(c, "POST", "/boards/"+b.id+"/lists", in, 201, &created); err != nil {
			return nil, err
		}
		b.lists = append(b.lists, created.ID)
	}
	return b, nil
}

// board returns the board with the given name. The first call creates it with n cards, using all clients concurrently.
// Every fifth card has a label, and every tenth an assignee.
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
	errs := make([]error, f.clients)
	var running sync.WaitGroup
	for first := range f.clients {
		c := f.client()
		running.Go(func() {
			defer c.Close()
			for i := first; i < n && errs[first] == nil && ctx.Err() == nil; i += f.clients {
				b.cards[i], errs[first] = fillCard(c, b, i, label.ID, me.ID)
			}
		})
	}
	running.Wait()
	if err := errors.Join(append(errs, ctx.Err())...); err != nil {
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
	var created record
	if err := call(c, "POST", "/cards", in, 201, &created); err != nil {
		return card{}, err
	}
	if urgent(i) {
		in := map[string]any{"add": []string{label}}
		if err := call(c, "PATCH", "/cards/"+created.ID+"/labels", in, 200, nil); err != nil {
			return card{}, err
		}
	}
	if i%10 == 0 {
		in := map[string]any{"add": []string{assignee}}
		if err := call(c, "PATCH", "/cards/"+created.ID+"/assignees", in, 200, nil); err != nil {
			return card{}, err
		}
	}
	return card{id: created.ID, list: list}, nil
}

// pages lists all cards of a board and returns the cursor of every page. The cursor of the first page is empty. pages
// returns an error if a card is missing or listed twice, or if the list does not end. The result is cached.
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
		return nil, fmt.Errorf("list board: got %d cards, want %d", len(seen), len(b.cards))
	}
	f.cursors[b.id] = cursors
	return cursors, nil
}

// entityTag requests a path and returns the entity tag of the response.
func (f *fixture) entityTag(ctx context.Context, path string) (string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+f.addrs[0]+path, nil)
	if err != nil {
		return "", err
	}
	r.Header.Set("Authorization", "Bearer "+f.token)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", fmt.Errorf("get the entity tag: %w", err)
	}
	defer response.Body.Close()
	tag := response.Header.Get("ETag")
	if response.StatusCode != 200 || tag == "" {
		return "", fmt.Errorf("get the entity tag: status %d, ETag %q", response.StatusCode, tag)
	}
	return tag, nil
}

// pagePath returns the path of the first page of a board's cards. appendPage can add a cursor to it.
func pagePath(b *board) string {
	return apiPath + "/boards/" + b.id + "/cards?limit=" + strconv.Itoa(pageSize)
}

// appendPage appends base to path, followed by the cursor if it is not empty.
func appendPage(path []byte, base, cursor string) []byte {
	path = append(path, base...)
	if cursor != "" {
		path = append(path, "&cursor="...)
		path = append(path, url.QueryEscape(cursor)...)
	}
	return path
}
