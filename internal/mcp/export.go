package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// exported is what a tool answers of a document that REST streams.
type exported struct {
	Link   string         `json:"link"`   // the document, for the same token
	Bytes  *int64         `json:"bytes"`  // null when it took too long to count
	Counts jsontext.Value `json:"counts"` // what the document says at its end; null as above
	Next   string         `json:"next"`
}

// export answers a link and the counts of a document, which is written to
// nowhere for it: the same checks, the same reading, and what it counts itself.
func (e *Endpoint) export(ctx context.Context, t *tool, asking *asking, object []byte) ([]byte, error) {
	call, err := e.prepare(t, asking, object)
	if err != nil {
		return nil, err
	}
	counting, cancel := context.WithTimeout(ctx, deadline-deadline/5)
	defer cancel()
	var end tail
	err = e.Engine.DoStream(counting, call, &end)
	if err != nil && (!errors.Is(err, context.DeadlineExceeded) || end.written == 0) {
		return nil, err
	}
	answer := exported{
		Link: e.linkTo(call), Counts: jsontext.Value("null"),
		Next: "give the link to the person, or fetch it with the header Authorization: Bearer and the token of this connection; do not read the document into the conversation.",
	}
	if err == nil {
		answer.Bytes = &end.written
		if answer.Counts, err = end.counts(); err != nil {
			return nil, err
		}
	}
	body, err := json.Marshal(map[string]any{"data": answer})
	if err != nil {
		return nil, fmt.Errorf("encode a link: %w", err)
	}
	return body, nil
}

// tail keeps the end of what is written to it.
type tail struct {
	kept    []byte
	written int64
}

// tailSize is more than the counts at a document's end take.
const tailSize = 4096

func (t *tail) Write(p []byte) (int, error) {
	t.written += int64(len(p))
	t.kept = append(t.kept, p[max(0, len(p)-tailSize):]...)
	if n := len(t.kept) - tailSize; n > 0 {
		t.kept = append(t.kept[:0], t.kept[n:]...)
	}
	return len(p), nil
}

// counts are those that the document says it has, at its end.
func (t *tail) counts() (jsontext.Value, error) {
	const name = `"counts":`
	i := bytes.LastIndex(t.kept, []byte(name))
	if i < 0 {
		return nil, errors.New("the document has no counts at its end")
	}
	counts, err := jsontext.NewDecoder(bytes.NewReader(t.kept[i+len(name):])).ReadValue()
	if err != nil {
		return nil, fmt.Errorf("read the counts of a document: %w", err)
	}
	return counts.Clone(), nil
}
