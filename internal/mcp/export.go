package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// exportResult is the result of a tool whose operation streams a document.
type exportResult struct {
	Link   string         `json:"link"`   // URL of the document; requires the same token
	Bytes  *int64         `json:"bytes"`  // size of the document; null if writing it takes too long
	Counts jsontext.Value `json:"counts"` // counts at the end of the document; null if writing it takes too long
	Next   string         `json:"next"`
}

// export returns a link to a document, with the document's size and counts. It runs the
// operation with the usual checks and discards the document.
func (e *Endpoint) export(ctx context.Context, t *tool, req *request, object []byte) ([]byte, error) {
	call, err := e.prepareNamed(ctx, t, req, object)
	if err != nil {
		return nil, err
	}
	countCtx, cancel := context.WithTimeout(ctx, e.Deadline-e.Deadline/5)
	defer cancel()
	var end tail
	err = e.Engine.DoStream(countCtx, call, &end)
	if err != nil && (!errors.Is(err, context.DeadlineExceeded) || end.written == 0) {
		return nil, err
	}
	result := exportResult{
		Link: e.linkTo(call), Counts: jsontext.Value("null"),
		Next: "give the link to the person, or fetch it with this connection's token in the Authorization: Bearer " +
			"header. Do not read the document into the conversation.",
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
	buffer  []byte
	written int64
}

// tailSize is more than the size of the counts at the end of a document.
const tailSize = 4096

// Write implements io.Writer. It never fails.
func (t *tail) Write(p []byte) (int, error) {
	t.written += int64(len(p))
	t.buffer = append(t.buffer, p[max(0, len(p)-tailSize):]...)
	if n := len(t.buffer) - tailSize; n > 0 {
		t.buffer = append(t.buffer[:0], t.buffer[n:]...)
	}
	return len(p), nil
}

// counts returns the counts at the end of the document.
func (t *tail) counts() (jsontext.Value, error) {
	const name = `"counts":`
	i := bytes.LastIndex(t.buffer, []byte(name))
	if i < 0 {
		return nil, errors.New("the document does not end with counts")
	}
	counts, err := jsontext.NewDecoder(bytes.NewReader(t.buffer[i+len(name):])).ReadValue()
	if err != nil {
		return nil, fmt.Errorf("decode the counts of the document: %w", err)
	}
	return counts.Clone(), nil
}
