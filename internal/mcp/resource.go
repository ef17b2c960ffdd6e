package mcp

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"cardwall/internal/board"
)

// The URI templates of resources.
const (
	boardTemplate = "service://boards/{boardId}"
	cardTemplate  = "service://boards/{boardId}/cards/{cardId}"
)

// resourceURI matches the only accepted spelling of a resource's URI, without
// escapes and without dot segments.
var resourceURI = regexp.MustCompile(`^service://boards/(brd_[0-9a-z]{26})(?:/cards/(crd_[0-9a-z]{26}))?$`)

// maxURI is the maximum length of a resource's URI in bytes.
const maxURI = 1024

// plainURI reports whether a URI can be quoted in an error. The SDK quotes it as a
// Go string, which is not always valid JSON; it would then send no response.
func plainURI(uri string) bool {
	return len(uri) <= maxURI && !strings.ContainsFunc(uri, func(c rune) bool {
		return c <= ' ' || c > '~' || c == '"' || c == '\\'
	})
}

// noResource returns the error for a resource that does not exist or that the
// caller cannot see.
func noResource(uri string) error {
	if uri == "" {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "Resource not found"}
	}
	return sdk.ResourceNotFoundError(uri)
}

func (e *Endpoint) addResources(s *sdk.Server) {
	for _, t := range []sdk.ResourceTemplate{
		{
			Name: "board", Title: "Board", URITemplate: boardTemplate, MIMEType: "application/json",
			Description: "A board with its lists, labels and open cards. " + untrusted,
		},
		{
			Name: "card", Title: "Card", URITemplate: cardTemplate, MIMEType: "application/json",
			Description: "A card with its checklists and comments. " + untrusted,
		},
	} {
		s.AddResourceTemplate(&t, e.readResource)
	}
}

// resource is the content of a resource.
type resource struct {
	Notice   string           `json:"notice"`
	Board    jsontext.Value   `json:"board,omitempty"`
	Card     jsontext.Value   `json:"card,omitempty"`
	Cards    []jsontext.Value `json:"cards,omitzero"`
	Comments []jsontext.Value `json:"comments,omitzero"`
	More     string           `json:"more,omitempty"` // how to get the rest
}

func (e *Endpoint) readResource(ctx context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	ids := resourceURI.FindStringSubmatch(r.Params.URI)
	if ids == nil {
		return nil, noResource(r.Params.URI)
	}
	var (
		content = resource{Notice: untrusted}
		err     error
	)
	if boardID, cardID := ids[1], ids[2]; cardID == "" {
		content.Board, err = e.recordOf(ctx, "get_board", map[string]any{"boardId": boardID})
		if err == nil {
			in := map[string]any{"boardId": boardID}
			content.Cards, content.More, err = e.recordsOf(ctx, "list_cards", in, len(content.Board))
		}
	} else {
		content.Card, err = e.recordOf(ctx, "get_card", map[string]any{"cardId": cardID})
		var card struct {
			BoardID string `json:"boardId"`
		}
		if err == nil {
			err = json.Unmarshal(content.Card, &card)
		}
		if err == nil && card.BoardID != boardID {
			return nil, noResource(r.Params.URI)
		}
		if err == nil {
			in := map[string]any{"cardId": cardID}
			content.Comments, content.More, err = e.recordsOf(ctx, "list_comments", in, len(content.Card))
		}
	}
	if f, ok := board.AsFault(err); ok && f.Code == board.CodeNotFound {
		return nil, noResource(r.Params.URI)
	}
	if err != nil {
		return nil, e.protocolError(ctx, r.Params.URI, err)
	}
	text, err := json.Marshal(content)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", r.Params.URI, err)
	}
	if !smallEnough(record(text)) {
		var complete map[string]any
		if err := json.Unmarshal(text, &complete); err != nil {
			return nil, fmt.Errorf("decode %s: %w", r.Params.URI, err)
		}
		short, err := shorten(complete, smallEnough, func(omitted []string) string {
			return omittedText(omitted) + " Next: read the parts with tools."
		})
		if err != nil {
			return nil, err
		}
		text = short.text
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{
		{URI: r.Params.URI, MIMEType: "application/json", Text: string(text)},
	}}, nil
}

// smallEnough reports whether the text of a resource is at most maxResult.
func smallEnough(o outcome) bool { return len(appendText(nil, o.text)) <= maxResult-overhead }

// protocolError returns a JSON-RPC error, for methods other than tools/call.
func (e *Endpoint) protocolError(ctx context.Context, about string, err error) error {
	r := refused(e.explain(ctx, about, requestOf(ctx), err), 0)
	return &jsonrpc.Error{Code: codeRefused, Message: r.message, Data: []byte(r.data)}
}

// codeRefused is the JSON-RPC error code of faults. It is in the range that
// JSON-RPC 2.0 reserves for servers. The message begins with the fault's code.
const codeRefused = -32000

// query calls a tool for the caller in ctx and returns its data and cursor.
func (e *Endpoint) query(ctx context.Context, name string, in map[string]any) (data jsontext.Value, cursor string, err error) {
	object, err := json.Marshal(in, json.Deterministic(true))
	if err != nil {
		return nil, "", fmt.Errorf("encode the input of %s: %w", name, err)
	}
	t, req := e.tools[name], requestOf(ctx)
	call, err := e.prepare(t, req, object)
	if err != nil {
		return nil, "", err
	}
	answer, err := e.Engine.Do(ctx, call)
	if err != nil {
		return nil, "", err
	}
	out, err := e.fit(ctx, t, call, record(visible(answer.Body)))
	if err != nil {
		return nil, "", err
	}
	var envelope struct {
		Data       jsontext.Value `json:"data"`
		NextCursor string         `json:"nextCursor"`
	}
	if err := json.Unmarshal(out.body, &envelope); err != nil {
		return nil, "", fmt.Errorf("decode the response of %s: %w", name, err)
	}
	return envelope.Data, envelope.NextCursor, nil
}

func (e *Endpoint) recordOf(ctx context.Context, name string, in map[string]any) (jsontext.Value, error) {
	data, _, err := e.query(ctx, name, in)
	return data, err
}

// recordsOf reads the pages of a list until the list ends or the resource, which
// already has used bytes, is full.
func (e *Endpoint) recordsOf(
	ctx context.Context, name string, in map[string]any, used int,
) (all []jsontext.Value, more string, err error) {
	all = []jsontext.Value{}
	for {
		data, cursor, err := e.query(ctx, name, in)
		if err != nil {
			return nil, "", err
		}
		var page []jsontext.Value
		if err := json.Unmarshal(data, &page); err != nil {
			return nil, "", fmt.Errorf("decode the response of %s: %w", name, err)
		}
		size := 0
		for _, v := range page {
			size += len(v) + 1
		}
		if used += size; used > maxResult*3/4 && len(all) > 0 { // leaves room for escaped quotes
			return all, fmt.Sprintf("Use %s to read all of them page by page.", name), nil
		}
		all = append(all, page...)
		if cursor == "" {
			return all, "", nil
		}
		in["cursor"] = cursor
	}
}
