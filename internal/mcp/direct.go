package mcp

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// A call of a tool that is as it should be is answered here, without the SDK,
// which would make a connection with goroutines of its own for it and read it
// five times over: six times the work of the operation. Only calls that the SDK
// would let through come here; whatever is odd about one, the SDK says. Both
// answer alike to the byte (TestDirectCallsAreAnsweredAlike).

// statelessVersion is the revision whose requests say all about themselves.
const statelessVersion = "2026-07-28"

// direct is a call of a tool.
type direct struct {
	id        []byte // as JSON
	tool      *tool
	arguments []byte // an object, or nothing
	stateless bool
}

// directCall finds a call that needs nothing of the SDK.
func (e *Endpoint) directCall(r *http.Request, body []byte) (direct, bool) {
	var m rpcCall
	d := e.readers.Get().(*reader)
	ok := m.read(d, body)
	d.body = nil
	e.readers.Put(d)
	if !ok || m.version != "2.0" || m.method != "tools/call" || !plainID(m.id) || m.arguments != nil && m.arguments.Kind() != '{' {
		return direct{}, false
	}
	call := direct{id: m.id, tool: e.tools[m.name], arguments: m.arguments}
	header := r.Header.Get("Mcp-Protocol-Version")
	switch {
	case call.tool == nil || !wellSent(r):
		return direct{}, false
	case m.meta.version == nil:
		return call, header == "" || header != statelessVersion && slices.Contains(versions, header)
	}
	call.stateless = header == statelessVersion && string(m.meta.version) == `"`+statelessVersion+`"` && e.clients.know(m.meta) &&
		r.Header.Get("Mcp-Method") == m.method && r.Header.Get("Mcp-Name") == m.name
	return call, call.stateless
}

// wellSent tells whether the headers are what the transport asks for.
func wellSent(r *http.Request) bool {
	if kind := r.Header.Get("Content-Type"); kind != "application/json" {
		return false
	}
	if len(r.Header.Values("Last-Event-Id")) > 0 {
		return false
	}
	var plain, events bool
	for _, accept := range strings.Split(strings.Join(r.Header.Values("Accept"), ","), ",") {
		accept = strings.TrimSpace(accept)
		plain = plain || accept == "application/json" || accept == "*/*"
		events = events || accept == "text/event-stream" || accept == "*/*"
	}
	return plain && events
}

// plainID tells whether an id is written the same by everybody.
func plainID(id jsontext.Value) bool {
	switch id.Kind() {
	case '0':
		return len(id) <= 15 && !slices.ContainsFunc(id, func(c byte) bool { return c < '0' || c > '9' })
	case '"':
		return !slices.ContainsFunc(id[1:len(id)-1], func(c byte) bool { return c < ' ' || c > '~' || strings.IndexByte(`"\<>&`, c) >= 0 })
	}
	return false
}

// rpcCall is what a JSON-RPC request for a tool holds.
type rpcCall struct {
	version, method, name string
	id, arguments         jsontext.Value
	meta                  clientMeta
}

// clientMeta is what a stateless request says of the client.
type clientMeta struct{ version, info, capabilities jsontext.Value }

// read is false for anything but one well-formed request without other fields.
func (m *rpcCall) read(d *reader, body []byte) bool {
	d.body = body
	d.Reset(bytes.NewBuffer(body))
	ok := object(d, func(name string) bool {
		switch name {
		case "jsonrpc":
			return text(d, &m.version)
		case "method":
			return text(d, &m.method)
		case "id":
			return value(d, &m.id)
		case "params":
			return object(d, m.param(d))
		}
		return false
	})
	_, err := d.ReadToken()
	return ok && errors.Is(err, io.EOF)
}

func (m *rpcCall) param(d *reader) func(string) bool {
	return func(name string) bool {
		switch name {
		case "name":
			return text(d, &m.name)
		case "arguments":
			return value(d, &m.arguments)
		case "_meta":
			return object(d, func(name string) bool {
				switch name {
				case "io.modelcontextprotocol/protocolVersion":
					return value(d, &m.meta.version)
				case "io.modelcontextprotocol/clientInfo":
					return value(d, &m.meta.info)
				case "io.modelcontextprotocol/clientCapabilities":
					return value(d, &m.meta.capabilities)
				}
				return d.SkipValue() == nil
			})
		}
		return false
	}
}

// reader reads the JSON of a body, of which it hands out pieces. Making one
// costs more than reading a call with it, so they are kept.
type reader struct {
	*jsontext.Decoder
	body []byte
}

func newReader() any { return &reader{Decoder: jsontext.NewDecoder(bytes.NewReader(nil))} }

// object reads the fields of an object one by one.
func object(d *reader, field func(name string) bool) bool {
	if d.PeekKind() != '{' {
		return false
	}
	if _, err := d.ReadToken(); err != nil {
		return false
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil || !field(name.String()) {
			return false
		}
	}
	end, err := d.ReadToken()
	return err == nil && end.Kind() == '}'
}

func text(d *reader, into *string) bool {
	if d.PeekKind() != '"' {
		return false
	}
	t, err := d.ReadToken()
	if err == nil {
		*into = t.String()
	}
	return err == nil
}

func value(d *reader, into *jsontext.Value) bool {
	v, err := d.ReadValue()
	if err == nil {
		end := d.InputOffset()
		*into = d.body[end-int64(len(v)) : end]
	}
	return err == nil
}

// clients remembers what clients said of themselves and was well said: each
// says the same with every request.
type clients struct {
	mu   sync.Mutex
	said map[string]bool
}

// What is remembered at most, in clients and in bytes of each.
const (
	maxClients = 1000
	maxSaid    = 1000
)

// know is whether a client's description of itself is well said.
func (c *clients) know(m clientMeta) bool {
	key := string(m.info) + "\x00" + string(m.capabilities) // JSON holds no such byte
	if len(key) > maxSaid {
		return m.wellSaid()
	}
	c.mu.Lock()
	known := c.said[key]
	c.mu.Unlock()
	if known || !m.wellSaid() {
		return known
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.said) >= maxClients {
		clear(c.said)
	}
	c.said[key] = true
	return true
}

// wellSaid tells whether what the client says of itself is of the types that
// the protocol has for it.
func (m clientMeta) wellSaid() bool {
	var info struct {
		Name        string `json:"name"`
		Title       string `json:"title"`
		Description string `json:"description"`
		Version     string `json:"version"`
		WebsiteURL  string `json:"websiteUrl"`
		Icons       []struct {
			Source string   `json:"src"`
			Type   string   `json:"mimeType"`
			Sizes  []string `json:"sizes"`
			Theme  string   `json:"theme"`
		} `json:"icons"`
	}
	var capabilities struct {
		Experimental map[string]jsontext.Value `json:"experimental"`
		Extensions   map[string]jsontext.Value `json:"extensions"`
		Roots        struct {
			ListChanged bool `json:"listChanged"`
		} `json:"roots"`
		Sampling struct {
			Context struct{} `json:"context"`
			Tools   struct{} `json:"tools"`
		} `json:"sampling"`
		Elicitation struct {
			Form struct{} `json:"form"`
			URL  struct{} `json:"url"`
		} `json:"elicitation"`
	}
	if m.capabilities.Kind() != '{' || m.info != nil && m.info.Kind() != '{' {
		return false
	}
	return (m.info == nil || json.Unmarshal(m.info, &info) == nil) && json.Unmarshal(m.capabilities, &capabilities) == nil
}

// writeResult writes the result of a call of a tool.
func (e *Endpoint) writeResult(w http.ResponseWriter, id []byte, stateless bool, o outcome) {
	kept := e.buffers.Get().(*[]byte)
	b := append(append(append((*kept)[:0], `{"jsonrpc":"2.0","id":`...), id...), `,"result":{`...)
	if stateless {
		b = append(append(append(b, `"_meta":{"io.modelcontextprotocol/serverInfo":`...), e.about...), `},`...)
	}
	b = append(b, `"content":[{"type":"text","text":`...)
	b = appendText(b, o.text)
	b = append(b, `}],"structuredContent":`...)
	b = appendEscaped(b, o.body)
	if o.failed {
		b = append(b, `,"isError":true`...)
	}
	if stateless {
		b = append(b, `,"resultType":"complete"`...)
	}
	b = append(b, `}}`...)
	writeBody(w, http.StatusOK, b)
	if cap(b) <= 2*maxResult {
		*kept = b
		e.buffers.Put(kept)
	}
}
