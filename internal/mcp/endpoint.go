package mcp

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

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
	Files    op.FileStore
	BaseURL  string
	Origins  []string // other sites whose pages may send requests, such as "https://app.example.com"
	Version  string
	Log      *slog.Logger
	Extra    func(*sdk.Server) // registers fixtures of the conformance suite; may be nil
	Deadline time.Duration     // limit for one request; 0 means 25 seconds
}

// versions are the supported revisions of the protocol, newest first. Older revisions
// use another transport.
var versions = []string{"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"}

// Endpoint serves requests at board.MCPPath.
type Endpoint struct {
	Config
	base       *url.URL
	tools      map[string]*tool
	toolsets   toolsets
	lookup     *op.Operation // see newLookups
	listNames  *op.Operation // see newLookups
	wholeText  *op.Operation // see newLookups
	sdk        http.Handler
	serverInfo []byte // name and version of the server, as JSON

	clients clients
	readers sync.Pool // pool of *reader
	buffers sync.Pool // pool of *[]byte for responses
}

// New returns the endpoint with its tools, resources and prompts. It returns an error
// if the base URL is invalid or a tool cannot be described.
func New(c Config) (*Endpoint, error) {
	c.BaseURL = strings.TrimSuffix(c.BaseURL, "/")
	c.Deadline = cmp.Or(c.Deadline, deadline)
	base, err := url.Parse(c.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("parse the base URL: %w", err)
	}
	e := &Endpoint{Config: c, base: base, tools: map[string]*tool{}, clients: clients{known: map[string]bool{}}}
	e.lookup, e.listNames, e.wholeText = newLookups()
	e.readers.New, e.buffers.New = newReader, func() any { return new([]byte) }
	e.serverInfo = appendText([]byte(`{"name":"cardwall","title":"Cardwall","version":`), []byte(c.Version))
	e.serverInfo = append(appendText(append(e.serverInfo, `,"websiteUrl":`...), []byte(c.BaseURL)), '}')
	var tools []*tool
	for _, o := range c.Registry.All() {
		if o.IsTool() {
			t, err := newTool(c.Registry, o)
			if err != nil {
				return nil, err
			}
			tools, e.tools[o.Name] = append(tools, t), t
		}
	}
	e.toolsets = newToolsets(tools)
	server := e.newServer()
	e.sdk = sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, &sdk.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, DisableLocalhostProtection: true,
		MaxRequestBodyBytes: maxBody, PropagateRequestCancellation: true,
	})
	return e, nil
}

// newServer returns the SDK server. All requests share it, because creating a server
// is expensive. It lists all tools; guard removes those that a token cannot use or that an
// address does not select.
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
	e.addOtherTools(s)
	e.addResources(s)
	e.addPrompts(s)
	if e.Extra != nil {
		e.Extra(s)
	}
	s.AddReceivingMiddleware(e.guard)
	return s
}

// listTTL is the time in milliseconds for which clients may cache the lists of tools,
// prompts and resource templates. The lists change only when the server is upgraded.
const listTTL = 5 * 60 * 1000

// cacheable marks results as private, because they depend on the token. It also sets how
// long clients may cache results. Resources and their list can change at any time.
func cacheable(_ context.Context, r sdk.Request, c *sdk.Cacheable) {
	c.CacheScope = "private"
	switch r.(type) {
	case *sdk.ReadResourceRequest, *sdk.ListResourcesRequest:
	default:
		c.TTLMs = listTTL
	}
}

// request holds the caller, the selected tools and the response writer of the current
// request.
type request struct {
	caller    board.Caller
	selected  selection
	stateless bool // whether its revision is statelessVersion
	writer    http.ResponseWriter
	challenge *board.Fault // a missing scope for which a connected app can ask; nil for none
}

type requestKey struct{}

func requestOf(ctx context.Context) *request {
	req, ok := ctx.Value(requestKey{}).(*request)
	if !ok {
		return &request{caller: board.Nobody()}
	}
	return req
}

// setRate sets the rate-limit headers of the response.
func (req *request) setRate(rate session.Rate) {
	if req.writer != nil {
		session.SetRate(req.writer.Header(), rate)
	}
}

// setOperation sets the name of the called operation for the request log.
func (req *request) setOperation(name string) {
	if w, ok := req.writer.(interface{ Operation(name string) }); ok {
		w.Operation(name)
	}
}
