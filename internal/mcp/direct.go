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

// Well-formed tool calls are handled here, without the SDK. For each call, the SDK
// creates a connection with goroutines and parses the message five times. That
// takes six times as long as the operation itself. This path handles only calls
// that the SDK would accept. All other requests go to the SDK. Both paths produce
// identical responses (TestDirectCallsMatchTheSDK).

// statelessVersion is the protocol revision whose requests are self-contained.
const statelessVersion = "2026-07-28"

func isStateless(r *http.Request) bool {
	return r.Header.Get("Mcp-Protocol-Version") == statelessVersion
}

// direct is a tool call that does not need the SDK.
type direct struct {
	id        []byte // JSON
	tool      *tool
	arguments []byte // JSON object, or nil
	stateless bool
}

// directCall parses a request body. It returns false if the SDK must handle it.
func (e *Endpoint) directCall(r *http.Request, body []byte) (direct, bool) {
	var m rpcCall
	d := e.readers.Get().(*reader)
	ok := m.read(d, body)
	d.body = nil
	e.readers.Put(d)
	if !ok || m.version != "2.0" || m.method != "tools/call" || !isPlainID(m.id) ||
		m.arguments != nil && m.arguments.Kind() != '{' {
		return direct{}, false
	}
	call := direct{id: m.id, tool: e.tools[m.name], arguments: m.arguments}
	header := r.Header.Get("Mcp-Protocol-Version")
	switch {
	case call.tool == nil || !validHeaders(r):
		return direct{}, false
	case m.meta.version == nil:
		return call, header == "" || header != statelessVersion && slices.Contains(versions, header)
	}
	call.stateless = header == statelessVersion && string(m.meta.version) == `"`+statelessVersion+`"` &&
		e.clients.isValid(m.meta) && r.Header.Get("Mcp-Method") == m.method && r.Header.Get("Mcp-Name") == m.name
	return call, call.stateless
}

// validHeaders reports whether the headers have the plain form of most requests, which
// meets the requirements of the transport. The SDK checks all other headers.
func validHeaders(r *http.Request) bool {
	if kind := r.Header.Get("Content-Type"); kind != "application/json" {
		return false
	}
	return len(r.Header.Values("Last-Event-Id")) == 0
}

// isPlainID reports whether all JSON encoders write an id in the same way.
func isPlainID(id jsontext.Value) bool {
	switch id.Kind() {
	case '0':
		return len(id) <= 15 && !slices.ContainsFunc(id, func(c byte) bool { return c < '0' || c > '9' })
	case '"':
		return !slices.ContainsFunc(id[1:len(id)-1], func(c byte) bool {
			return c < ' ' || c > '~' || strings.IndexByte(`"\<>&`, c) >= 0
		})
	}
	return false
}

// rpcCall is the content of a JSON-RPC request for a tool call.
type rpcCall struct {
	version, method, name string
	id, arguments         jsontext.Value
	meta                  clientMeta
}

// clientMeta describes the client in a stateless request.
type clientMeta struct{ version, info, capabilities jsontext.Value }

// read parses a body. It returns false unless the body is one well-formed request
// without unknown fields outside of _meta.
func (m *rpcCall) read(d *reader, body []byte) bool {
	d.body = body
	d.Reset(bytes.NewBuffer(body))
	ok := readObject(d, func(name string) bool {
		switch name {
		case "jsonrpc":
			return readString(d, &m.version)
		case "method":
			return readString(d, &m.method)
		case "id":
			return readValue(d, &m.id)
		case "params":
			return readObject(d, m.param(d))
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
			return readString(d, &m.name)
		case "arguments":
			return readValue(d, &m.arguments)
		case "_meta":
			return readObject(d, func(name string) bool {
				switch name {
				case "io.modelcontextprotocol/protocolVersion":
					return readValue(d, &m.meta.version)
				case "io.modelcontextprotocol/clientInfo":
					return readValue(d, &m.meta.info)
				case "io.modelcontextprotocol/clientCapabilities":
					return readValue(d, &m.meta.capabilities)
				}
				return d.SkipValue() == nil
			})
		}
		return false
	}
}

// reader decodes the JSON of a body. Decoded values are slices of the body. Readers
// are pooled, because creating a reader is slower than decoding a call.
type reader struct {
	*jsontext.Decoder
	body []byte
}

func newReader() any { return &reader{Decoder: jsontext.NewDecoder(bytes.NewReader(nil))} }

// readObject reads an object. For each member, it calls field with the member's name.
// The function field must read the value, and return false if the value is invalid.
func readObject(d *reader, field func(name string) bool) bool {
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

func readString(d *reader, into *string) bool {
	if d.PeekKind() != '"' {
		return false
	}
	t, err := d.ReadToken()
	if err == nil {
		*into = t.String()
	}
	return err == nil
}

func readValue(d *reader, into *jsontext.Value) bool {
	v, err := d.ReadValue()
	if err == nil {
		end := d.InputOffset()
		*into = d.body[end-int64(len(v)) : end]
	}
	return err == nil
}

// clients caches valid client descriptions, because a client sends the same description
// with every request.
type clients struct {
	mu    sync.Mutex
	known map[string]bool
}

const (
	maxClients    = 1000 // maximum number of entries in the cache
	maxClientSize = 1000 // maximum size of an entry in bytes
)

// isValid reports whether the description of a client is valid.
func (c *clients) isValid(m clientMeta) bool {
	key := string(m.info) + "\x00" + string(m.capabilities) // JSON cannot contain a zero byte
	if len(key) > maxClientSize {
		return m.isValid()
	}
	c.mu.Lock()
	known := c.known[key]
	c.mu.Unlock()
	if known || !m.isValid() {
		return known
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.known) >= maxClients {
		clear(c.known)
	}
	c.known[key] = true
	return true
}

// isValid reports whether the description has the types that the protocol defines.
func (m clientMeta) isValid() bool {
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
	return (m.info == nil || json.Unmarshal(m.info, &info) == nil) &&
		json.Unmarshal(m.capabilities, &capabilities) == nil
}

// writeResult writes the result of a tool call.
func (e *Endpoint) writeResult(w http.ResponseWriter, id []byte, stateless bool, o outcome) {
	buffer := e.buffers.Get().(*[]byte)
	b := append(append(append((*buffer)[:0], `{"jsonrpc":"2.0","id":`...), id...), `,"result":{`...)
	if stateless {
		b = append(append(append(b, `"_meta":{"io.modelcontextprotocol/serverInfo":`...), e.serverInfo...), `},`...)
	}
	b = append(b, `"content":[`...)
	if o.hasText(stateless) {
		b = append(appendText(append(b, `{"type":"text","text":`...), o.text), '}')
	}
	if o.picture != nil {
		if o.hasText(stateless) {
			b = append(b, ',')
		}
		b = appendPicture(b, o.picture)
	}
	b = append(b, `],"structuredContent":`...)
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
		*buffer = b
		e.buffers.Put(buffer)
	}
}
