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
	boardURI      = "service://boards/"
	boardTemplate = boardURI + "{boardId}"
	cardTemplate  = boardTemplate + "/cards/{cardId}"
)

// resourceURI matches the only accepted spelling of a resource's URI, which has no
// escapes and no dot segments.
var resourceURI = regexp.MustCompile(`^service://boards/(brd_[0-9a-z]{26})(?:/cards/(crd_[0-9a-z]{26}))?$`)

// maxURI is the maximum length of a resource's URI in bytes.
const maxURI = 1024

// isPlainURI reports whether a URI has at most maxURI bytes and the SDK can quote it in an
// error. The SDK quotes a URI as a Go string, which is not always valid JSON. If the
// result is not valid JSON, the SDK sends no response.
func isPlainURI(uri string) bool {
	return len(uri) <= maxURI && !strings.ContainsFunc(uri, func(c rune) bool {
		return c <= ' ' || c > '~' || c == '"' || c == '\\'
	})
}

// noResource returns the error for a resource that does not exist or that the
// caller cannot see. If uri is "", the error does not quote the URI.
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
			Description: "A board with its lists, labels and open cards. The list of resources names starred and recently opened " +
				"boards; list_boards returns all. " + untrusted,
		},
		{
			Name: "card", Title: "Card", URITemplate: cardTemplate, MIMEType: "application/json",
			Description: "A card with its checklists and comments. " + untrusted,
		},
	} {
		s.AddResourceTemplate(&t, e.readResource)
	}
}

func (e *Endpoint) readResource(ctx context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	ids := resourceURI.FindStringSubmatch(r.Params.URI)
	if ids == nil {
		return nil, noResource(r.Params.URI)
	}
	var (
		text []byte
		err  error
	)
	if boardID, cardID := ids[1], ids[2]; cardID == "" {
		text, err = e.boardResource(ctx, boardID)
	} else {
		text, err = e.cardResource(ctx, boardID, cardID)
	}
	if f, ok := board.AsFault(err); ok && f.Code == board.CodeNotFound {
		return nil, noResource(r.Params.URI)
	}
	if err != nil {
		return nil, e.protocolError(ctx, r.Params.URI, err)
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{
		{URI: r.Params.URI, MIMEType: "application/json", Text: string(text)},
	}}, nil
}

// fitsResource reports whether a resource with the text of o fits into maxResult.
func fitsResource(o outcome) bool { return len(appendText(nil, o.text)) <= maxResult-overhead }

// protocolError converts an error to a JSON-RPC error, for methods other than
// tools/call.
func (e *Endpoint) protocolError(ctx context.Context, about string, err error) error {
	r := rpcErrorOf(e.faultOf(ctx, about, requestOf(ctx), err), 0)
	return &jsonrpc.Error{Code: codeRefused, Message: r.message, Data: []byte(r.data)}
}

// codeRefused is the default JSON-RPC error code of faults. It is in the range that
// JSON-RPC 2.0 reserves for servers. The message begins with the fault's code.
const codeRefused = -32000

// query calls an operation for the caller in ctx: a tool, or one that is for the
// application only. It returns the data, which is never shortened, and the cursor.
func (e *Endpoint) query(ctx context.Context, name string, in map[string]any) (data jsontext.Value, cursor string, err error) {
	object, err := json.Marshal(in, json.Deterministic(true))
	if err != nil {
		return nil, "", fmt.Errorf("encode the input of %s: %w", name, err)
	}
	t, req := e.tools[name], requestOf(ctx)
	if t == nil {
		t = &tool{Operation: e.Registry.Named(name)}
	}
	call, err := e.prepare(t, req, object)
	if err != nil {
		return nil, "", err
	}
	result, err := e.Engine.Do(ctx, call)
	if err != nil {
		return nil, "", err
	}
	var envelope struct {
		Data       jsontext.Value `json:"data"`
		NextCursor string         `json:"nextCursor"`
	}
	if err := json.Unmarshal(stripHiddenJSON(result.Body), &envelope); err != nil {
		return nil, "", fmt.Errorf("decode the response of %s: %w", name, err)
	}
	return envelope.Data, envelope.NextCursor, nil
}

// queryAs is like query and decodes the data.
func queryAs[T any](ctx context.Context, e *Endpoint, name string, in map[string]any) (out T, cursor string, err error) {
	data, cursor, err := e.query(ctx, name, in)
	if err != nil {
		return out, "", err
	}
	if err := json.Unmarshal(data, &out); err != nil {
		return out, "", fmt.Errorf("decode the response of %s: %w", name, err)
	}
	return out, cursor, nil
}
