package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// exported is the result of a tool whose operation streams a document.
type exported struct {
	Link   string         `json:"link"`   // address of the document, for the same token
	Bytes  *int64         `json:"bytes"`  // null if counting took too long
	Counts jsontext.Value `json:"counts"` // counts at the end of the document; null if counting took too long
	Next   string         `json:"next"`
}

// export returns a link to a document, its size and its counts. To get them it
// runs the operation with the usual checks and discards the document.
func (e *Endpoint) export(ctx context.Context, t *tool, req *request, object []byte) ([]byte, error) {
	call, err := e.prepare(t, req, object)
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
	result := exported{
		Link: e.linkTo(call), Counts: jsontext.Value("null"),
		Next: "give the link to the person, or fetch it with the header Authorization: Bearer and the token of " +
			"this connection; do not read the document into the conversation.",
	}
	if err == nil {
		result.Bytes = &end.written
		if result.Counts, err = end.counts(); err != nil {
			return nil, err
		}
	}
	body, err := json.Marshal(map[string]any{"data": result})
	if err != nil {
		return nil, fmt.Errorf("encode the link: %w", err)
	}
	return body, nil
}

// tail is a writer that keeps only the last tailSize bytes.
type tail struct {
	kept    []byte
	written int64
}

// tailSize is larger than the counts at the end of a document.
const tailSize = 4096

func (t *tail) Write(p []byte) (int, error) {
	t.written += int64(len(p))
	t.kept = append(t.kept, p[max(0, len(p)-tailSize):]...)
	if n := len(t.kept) - tailSize; n > 0 {
		t.kept = append(t.kept[:0], t.kept[n:]...)
	}
	return len(p), nil
}

// counts returns the counts at the end of the document.
func (t *tail) counts() (jsontext.Value, error) {
	const name = `"counts":`
	i := bytes.LastIndex(t.kept, []byte(name))
	if i < 0 {
		return nil, errors.New("the document has no counts at its end")
	}
	counts, err := jsontext.NewDecoder(bytes.NewReader(t.kept[i+len(name):])).ReadValue()
	if err != nil {
		return nil, fmt.Errorf("decode the counts of the document: %w", err)
	}
	return counts.Clone(), nil
}
