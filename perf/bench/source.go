package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"

	"cardwall/perf/client"
	"cardwall/perf/document"
)

// createSource creates cards at the bottom of random lists on random growing boards.
type createSource struct {
	random *rand.Rand
	boards []*growingBoard
}

func (s *createSource) next(r *client.Request) error {
	b, n, err := s.boards[s.random.IntN(len(s.boards))].take()
	if err != nil {
		return err
	}
	r.Reset("POST", 201)
	r.Path = append(r.Path, apiPath+"/cards"...)
	r.Body = append(r.Body, `{"listId":"`...)
	r.Body = append(r.Body, b.lists[s.random.IntN(len(b.lists))]...)
	r.Body = append(r.Body, `","title":"New card `...)
	r.Body = strconv.AppendInt(r.Body, int64(n), 10)
	r.Body = append(r.Body, `","description":"`+document.Text+`"}`...)
	return nil
}

func (s *createSource) check(body []byte) error {
	return mustContain(body, "New card ")
}

// growingBoard is the board on which cards are created. All clients share it, so that the benchmark includes waiting
// for the board's lock. After the given number of cards, a new board replaces it.
type growingBoard struct {
	every int // number of cards per board
	make  func() (*board, error)

	mu      sync.Mutex
	current *board
	count   int
}

// take returns the board for the next card and the number of the card.
func (g *growingBoard) take() (*board, int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.current == nil || g.count%g.every == 0 {
		b, err := g.make()
		if err != nil {
			return nil, 0, fmt.Errorf("create next board: %w", err)
		}
		g.current = b
	}
	g.count++
	return g.current, g.count, nil
}

// updateSource gives random cards a new title.
type updateSource struct {
	random *rand.Rand
	cards  []card
	title  []byte
}

func (s *updateSource) next(r *client.Request) error {
	s.title = append(s.title[:0], "Changed "...)
	s.title = strconv.AppendUint(s.title, s.random.Uint64(), 36)
	r.Reset("PATCH", 200)
	r.Path = append(r.Path, apiPath+"/cards/"...)
	r.Path = append(r.Path, s.cards[s.random.IntN(len(s.cards))].id...)
	r.Body = append(r.Body, `{"title":"`...)
	r.Body = append(r.Body, s.title...)
	r.Body = append(r.Body, `"}`...)
	return nil
}

func (s *updateSource) check(body []byte) error { return mustContain(body, string(s.title)) }

// moveSource moves cards to the top or the bottom of a random list, or after an anchor. Anchors are cards that are
// never moved, so it is always known which list they are in. One in ten cards is an anchor; the others are distributed
// over the clients.
type moveSource struct {
	random  *rand.Rand
	board   *board
	movable []card
	anchors map[string][]card // by list id
	list    string            // target list of the current request
}

func newMoveSource(random *rand.Rand, b *board, client, clients int) *moveSource {
	s := &moveSource{random: random, board: b, anchors: make(map[string][]card)}
	for i, card := range b.cards {
		switch {
		case i%10 == 9-i/10%listsPerBoard: // consecutive anchors are in different lists
			s.anchors[card.list] = append(s.anchors[card.list], card)
		case i%clients == client:
			s.movable = append(s.movable, card)
		}
	}
	return s
}

func (s *moveSource) next(r *client.Request) error {
	if len(s.movable) == 0 {
		return errors.New("the board has too few cards for this number of clients")
	}
	s.list = s.board.lists[s.random.IntN(len(s.board.lists))]
	r.Reset("POST", 200)
	r.Path = append(r.Path, apiPath+"/cards/"...)
	r.Path = append(r.Path, s.movable[s.random.IntN(len(s.movable))].id...)
	r.Path = append(r.Path, "/move"...)
	r.Body = append(r.Body, `{"listId":"`...)
	r.Body = append(r.Body, s.list...)
	r.Body = append(r.Body, `","position":`...)
	anchors := s.anchors[s.list]
	switch position := s.random.IntN(3); {
	case position == 0 && len(anchors) > 0:
		r.Body = append(r.Body, `{"after":"`...)
		r.Body = append(r.Body, anchors[s.random.IntN(len(anchors))].id...)
		r.Body = append(r.Body, `"}}`...)
	case position == 1:
		r.Body = append(r.Body, `"top"}`...)
	default:
		r.Body = append(r.Body, `"bottom"}`...)
	}
	return nil
}

func (s *moveSource) check(body []byte) error {
	return mustContain(body, s.list)
}

// getSource fetches random cards.
type getSource struct {
	random *rand.Rand
	cards  []card
	id     string
}

func (s *getSource) next(r *client.Request) error {
	s.id = s.cards[s.random.IntN(len(s.cards))].id
	r.Reset("GET", 200)
	r.Path = append(r.Path, apiPath+"/cards/"...)
	r.Path = append(r.Path, s.id...)
	return nil
}

func (s *getSource) check(body []byte) error { return mustContain(body, s.id) }

// pageSource requests one page after another and starts again after the last one. The clients start at different pages,
// so that they are spread over the whole list.
type pageSource struct {
	base   string // path of the first page
	cursor string // cursor of the next page; empty for the first page
}

func newPageSource(base string, cursors []string, client, clients int) *pageSource {
	return &pageSource{base: base, cursor: cursors[client*len(cursors)/clients]}
}

func (s *pageSource) next(r *client.Request) error {
	r.Reset("GET", 200)
	r.Path = appendPage(r.Path, s.base, s.cursor)
	return nil
}

func (s *pageSource) check(body []byte) error {
	s.cursor = ""
	if err := mustContain(body, `"id"`); err != nil {
		return err
	}
	var err error
	s.cursor, err = nextCursor(body)
	return err
}

// unchangedSource requests a page that has not changed since its entity tag was read.
type unchangedSource struct{ path, tag string }

func (s unchangedSource) next(r *client.Request) error {
	r.Reset("GET", 304)
	r.Path = append(r.Path, s.path...)
	r.Head = append(r.Head, "If-None-Match: "+s.tag+"\r\n"...)
	return nil
}

// check accepts every response, because a response with status 304 has no body.
func (s unchangedSource) check([]byte) error { return nil }

// nextCursor returns the cursor in a page, or an empty string for the last page. It searches the bytes of the response,
// because decoding 50 cards would take longer than the server's work. The search cannot match the text of a card,
// because quotation marks are escaped inside JSON strings.
func nextCursor(body []byte) (string, error) {
	const name = `"nextCursor":`
	tail := max(len(body)-1024, 0)
	at := bytes.Index(body[tail:], []byte(name))
	if at >= 0 {
		at += tail
	} else if at = bytes.Index(body, []byte(name)); at < 0 {
		return "", nil
	}
	rest := bytes.TrimLeft(body[at+len(name):], " \n\t")
	if bytes.HasPrefix(rest, []byte("null")) {
		return "", nil
	}
	if len(rest) > 1 && rest[0] == '"' {
		if end := bytes.IndexByte(rest[1:], '"'); end >= 0 {
			return unquote(rest[:end+2])
		}
	}
	return "", fmt.Errorf("nextCursor is not a string: %s", client.Clip(rest))
}

func unquote(quoted []byte) (string, error) {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1 : len(quoted)-1]), nil
	}
	var s string
	if err := json.Unmarshal(quoted, &s); err != nil {
		return "", fmt.Errorf("decode nextCursor: %w", err)
	}
	return s, nil
}

// mixedSource takes each request from a randomly chosen part. The percentage of a part is its probability.
type mixedSource struct {
	random  *rand.Rand
	parts   []part
	current source
}

type part struct {
	percent int
	source  source
}

func (s *mixedSource) next(r *client.Request) error {
	dice := s.random.IntN(100)
	for _, p := range s.parts {
		s.current = p.source
		if dice -= p.percent; dice < 0 {
			break
		}
	}
	return s.current.next(r)
}

func (s *mixedSource) check(body []byte) error { return s.current.check(body) }

// changingSource lists cards. Ten times a second, one of the clients changes a card instead.
type changingSource struct {
	lists, update source
	due           *atomic.Int64 // time of the next change in nanoseconds, shared by all clients
	current       source
}

func (s *changingSource) next(r *client.Request) error {
	s.current = s.lists
	now, due := time.Now().UnixNano(), s.due.Load()
	if now >= due && s.due.CompareAndSwap(due, now+int64(time.Second/10)) {
		s.current = s.update
	}
	return s.current.next(r)
}

func (s *changingSource) check(body []byte) error { return s.current.check(body) }

// pathSource requests the same path every time.
type pathSource struct{ path string }

func (s pathSource) next(r *client.Request) error {
	r.Reset("GET", 200)
	r.Path = append(r.Path, s.path...)
	return nil
}

func (s pathSource) check(body []byte) error {
	if len(body) == 0 {
		return errors.New("the response is empty")
	}
	return nil
}

// mustContain returns an error if the body does not contain the text.
func mustContain(body []byte, text string) error {
	if !bytes.Contains(body, []byte(text)) {
		return fmt.Errorf("the response does not contain %q: %s", text, client.Clip(body))
	}
	return nil
}
