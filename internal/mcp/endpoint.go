package mcp

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/session"
)

// Config holds the dependencies and settings of the endpoint.
type Config struct {
	Registry *op.Registry
	Engine   *op.Engine
	Gate     *session.Gate
	BaseURL  string
	Version  string
	Log      *slog.Logger
	Extra    func(*sdk.Server) // registers fixtures of the conformance suite; may be nil
}

// versions are the supported revisions of the protocol, newest first. Older ones
// use another transport.
var versions = []string{"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"}

// Endpoint serves requests at board.MCPPath.
type Endpoint struct {
	Config
	base       *url.URL
	tools      map[string]*tool
	sdk        http.Handler
	serverInfo []byte // name and version of the server, as JSON

	clients clients
	readers sync.Pool // of *reader
	buffers sync.Pool // of *[]byte, for responses
}

// New returns the endpoint with its tools, resources and prompts.
func New(c Config) (*Endpoint, error) {
	c.BaseURL = strings.TrimSuffix(c.BaseURL, "/")
	base, err := url.Parse(c.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("parse the base URL: %w", err)
	}
	e := &Endpoint{Config: c, base: base, tools: map[string]*tool{}, clients: clients{known: map[string]bool{}}}
	e.readers.New, e.buffers.New = newReader, func() any { return new([]byte) }
	e.serverInfo = appendText([]byte(`{"name":"cardwall","title":"Cardwall","version":`), []byte(c.Version))
	e.serverInfo = append(appendText(append(e.serverInfo, `,"websiteUrl":`...), []byte(c.BaseURL)), '}')
	for _, o := range c.Registry.All() {
		if o.IsTool() {
			t, err := newTool(c.Registry, o)
			if err != nil {
				return nil, err
			}
			e.tools[o.Name] = t
		}
	}
	server := e.newServer()
	e.sdk = sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, &sdk.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, DisableLocalhostProtection: true,
		MaxRequestBodyBytes: maxBody, PropagateRequestCancellation: true,
	})
	return e, nil
}

// newServer returns the SDK server that all requests share, because building one
// is expensive. The guard removes the tools that a token cannot use from the list.
func (e *Endpoint) newServer() *sdk.Server {
	info := &sdk.Implementation{Name: "cardwall", Title: "Cardwall", Version: e.Version, WebsiteURL: e.BaseURL}
	s := sdk.NewServer(info, &sdk.ServerOptions{
		Instructions: instructions,
		Capabilities: &sdk.ServerCapabilities{
			Tools: &sdk.ToolCapabilities{}, Resources: &sdk.ResourceCapabilities{},
			Prompts: &sdk.PromptCapabilities{}, Completions: &sdk.CompletionCapabilities{},
		},
		CompletionHandler:         e.complete,
		SetCacheable:              cacheable,
		SupportedProtocolVersions: versions,
	})
	for _, o := range e.Registry.All() {
		if t := e.tools[o.Name]; t != nil {
			s.AddTool(t.listed, e.callTool)
		}
	}
	e.addResources(s)
	e.addPrompts(s)
	if e.Extra != nil {
		e.Extra(s)
	}
	s.AddReceivingMiddleware(e.guard)
	return s
}

// listTTL is how long clients may cache the lists of tools, prompts and
// resources, in milliseconds. The lists change only with the server's version.
const listTTL = 5 * 60 * 1000

// cacheable marks results as private, because they depend on the token.
func cacheable(_ context.Context, r sdk.Request, c *sdk.Cacheable) {
	c.CacheScope = "private"
	if _, reads := r.(*sdk.ReadResourceRequest); !reads {
		c.TTLMs = listTTL
	}
}

// request holds the caller and the response writer of the current request.
type request struct {
	caller board.Caller
	writer http.ResponseWriter
}

type requestKey struct{}

func requestOf(ctx context.Context) *request {
	a, ok := ctx.Value(requestKey{}).(*request)
	if !ok {
		return &request{caller: board.Nobody()}
	}
	return a
}

// setRate sets the headers of the response to the budget that the call spends from.
func (a *request) setRate(rate session.Rate) {
	if a.writer != nil {
		session.SetRate(a.writer.Header(), rate)
	}
}

// calls records the operation of the request for the request log.
func (a *request) calls(name string) {
	if w, ok := a.writer.(interface{ Operation(name string) }); ok {
		w.Operation(name)
	}
}
