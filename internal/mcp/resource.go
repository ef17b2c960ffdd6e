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

// The addresses of resources.
const (
	boardTemplate = "service://boards/{boardId}"
	cardTemplate  = "service://boards/{boardId}/cards/{cardId}"
)

// resourceAddress is the only spelling of an address that names anything: no
// escapes, no steps up.
var resourceAddress = regexp.MustCompile(`^service://boards/(brd_[0-9a-z]{26})(?:/cards/(crd_[0-9a-z]{26}))?$`)

// maxURI is how long the address of a resource may be.
const maxURI = 1024

// plainURI tells whether an address can be repeated in an error. The SDK quotes
// it there as Go does and not as JSON does; with what they quote differently no
// answer would ever be written.
func plainURI(uri string) bool {
	return len(uri) <= maxURI && !strings.ContainsFunc(uri, func(c rune) bool { return c <= ' ' || c > '~' || c == '"' || c == '\\' })
}

// noResource is the answer for absent and for invisible.
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

// resource is what a resource holds.
type resource struct {
	Notice   string           `json:"notice"`
	Board    jsontext.Value   `json:"board,omitempty"`
	Card     jsontext.Value   `json:"card,omitempty"`
	Cards    []jsontext.Value `json:"cards,omitzero"`
	Comments []jsontext.Value `json:"comments,omitzero"`
	More     string           `json:"more,omitempty"` // how to get what is left out
}

func (e *Endpoint) readResource(ctx context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	ids := resourceAddress.FindStringSubmatch(r.Params.URI)
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
			content.Cards, content.More, err = e.recordsOf(ctx, "list_cards", map[string]any{"boardId": boardID}, len(content.Board))
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
			content.Comments, content.More, err = e.recordsOf(ctx, "list_comments", map[string]any{"cardId": cardID}, len(content.Card))
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
	if !readable(record(text)) {
		var whole map[string]any
		if err := json.Unmarshal(text, &whole); err != nil {
			return nil, fmt.Errorf("read %s: %w", r.Params.URI, err)
		}
		short, err := shorten(whole, readable, func(gone []string) string { return leftOut(gone) + " Next: read the parts with tools." })
		if err != nil {
			return nil, err
		}
		text = short.text
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: r.Params.URI, MIMEType: "application/json", Text: string(text)}}}, nil
}

// readable tells whether the text of a resource is small enough for a model.
func readable(o outcome) bool { return len(appendText(nil, o.text)) <= maxResult-frame }

// protocolError is a refusal where no tool answers.
func (e *Endpoint) protocolError(ctx context.Context, about string, err error) error {
	r := refused(e.explain(ctx, about, askingOf(ctx), err), 0)
	return &jsonrpc.Error{Code: codeRefused, Message: r.message, Data: []byte(r.data)}
}

// codeRefused is the JSON-RPC code of refusals; their own code begins the
// message. It is of the range that JSON-RPC 2.0 leaves to servers.
const codeRefused = -32000

// tooled calls a tool on behalf of who asks.
func (e *Endpoint) tooled(ctx context.Context, name string, in map[string]any) (data jsontext.Value, cursor string, err error) {
	object, err := json.Marshal(in, json.Deterministic(true))
	if err != nil {
		return nil, "", fmt.Errorf("encode the input of %s: %w", name, err)
	}
	t, asking := e.tools[name], askingOf(ctx)
	call, err := e.prepare(t, asking, object)
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
		return nil, "", fmt.Errorf("read the answer of %s: %w", name, err)
	}
	return envelope.Data, envelope.NextCursor, nil
}

func (e *Endpoint) recordOf(ctx context.Context, name string, in map[string]any) (jsontext.Value, error) {
	data, _, err := e.tooled(ctx, name, in)
	return data, err
}

// recordsOf walks a list until it ends or a resource is full, of which used
// bytes are taken.
func (e *Endpoint) recordsOf(ctx context.Context, name string, in map[string]any, used int) (all []jsontext.Value, more string, err error) {
	all = []jsontext.Value{}
	for {
		data, cursor, err := e.tooled(ctx, name, in)
		if err != nil {
			return nil, "", err
		}
		var page []jsontext.Value
		if err := json.Unmarshal(data, &page); err != nil {
			return nil, "", fmt.Errorf("read the answer of %s: %w", name, err)
		}
		size := 0
		for _, v := range page {
			size += len(v) + 1
		}
		if used += size; used > maxResult*3/4 && len(all) > 0 { // quotes are escaped in it
			return all, fmt.Sprintf("%s has them all, in pages.", name), nil
		}
		all = append(all, page...)
		if cursor == "" {
			return all, "", nil
		}
		in["cursor"] = cursor
	}
}
