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

// Config is what the endpoint is made of.
type Config struct {
	Registry *op.Registry
	Engine   *op.Engine
	Gate     *session.Gate
	BaseURL  string
	Version  string
	Log      *slog.Logger
	Extra    func(*sdk.Server) // adds more to the server, for tests of the protocol; nil for nothing
}

// versions are the revisions of the protocol that are served, newest first.
// What is older spoke another transport.
var versions = []string{"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"}

// Endpoint answers requests at board.MCPPath.
type Endpoint struct {
	Config
	base  *url.URL
	tools map[string]*tool
	sdk   http.Handler
	about []byte // the server's name and version, as JSON

	clients clients
	readers sync.Pool // of *reader
	buffers sync.Pool // of *[]byte, for answers
}

// New describes the tools and builds the server.
func New(c Config) (*Endpoint, error) {
	c.BaseURL = strings.TrimSuffix(c.BaseURL, "/")
	base, err := url.Parse(c.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("read the base address: %w", err)
	}
	e := &Endpoint{Config: c, base: base, tools: map[string]*tool{}, clients: clients{said: map[string]bool{}}}
	e.readers.New, e.buffers.New = newReader, func() any { return new([]byte) }
	e.about = append(appendText([]byte(`{"name":"cardwall","title":"Cardwall","version":`), []byte(c.Version)), `,"websiteUrl":`...)
	e.about = append(appendText(e.about, []byte(c.BaseURL)), '}')
	for _, o := range c.Registry.All() {
		if !o.NoTool {
			t, err := newTool(c.Registry, o)
			if err != nil {
				return nil, err
			}
			e.tools[o.Name] = t
		}
	}
	server := e.newServer()
	e.sdk = sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, &sdk.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, DisableLocalhostProtection: true, MaxRequestBodyBytes: maxBody, PropagateRequestCancellation: true,
	})
	return e, nil
}

// newServer is one server for all: building one is dear, and what a token's
// scopes leave out is taken from the list as it is answered.
func (e *Endpoint) newServer() *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "cardwall", Title: "Cardwall", Version: e.Version, WebsiteURL: e.BaseURL}, &sdk.ServerOptions{
		Instructions: instructions,
		Capabilities: &sdk.ServerCapabilities{
			Tools: &sdk.ToolCapabilities{}, Resources: &sdk.ResourceCapabilities{}, Prompts: &sdk.PromptCapabilities{}, Completions: &sdk.CompletionCapabilities{},
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

// listsFor is how long a client may keep the lists of tools, prompts and
// resources: they change when the server is replaced.
const listsFor = 5 * 60 * 1000 // milliseconds

// cacheable keeps what a token sees to that token.
func cacheable(_ context.Context, r sdk.Request, c *sdk.Cacheable) {
	c.CacheScope = "private"
	if _, reads := r.(*sdk.ReadResourceRequest); !reads {
		c.TTLMs = listsFor
	}
}

// asking is who sent the request that is being answered.
type asking struct {
	caller board.Caller
	answer http.ResponseWriter
}

type askingKey struct{}

func askingOf(ctx context.Context) *asking {
	a, ok := ctx.Value(askingKey{}).(*asking)
	if !ok {
		return &asking{caller: board.Nobody()}
	}
	return a
}

// calls tells who logs the request which operation it calls.
func (a *asking) calls(name string) {
	if w, ok := a.answer.(interface{ Operation(name string) }); ok {
		w.Operation(name)
	}
}
