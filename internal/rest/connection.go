package rest

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"

	"github.com/go-json-experiment/json"

	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/store"
)

// Serve is like server.Serve, but responds with the error envelope to requests that
// net/http rejects before it calls a handler: malformed requests (400), unknown
// expectations (417), headers over the limit (431), unknown transfer codings (501) and
// unsupported HTTP versions (505). Without it, net/http writes plain text or no body. Serve
// replaces the handler and the connection hooks of the server. Secure means that the base
// URL is https; these responses then have Strict-Transport-Security like all others.
func Serve(server *http.Server, l net.Listener, secure bool) error {
	next := server.Handler
	server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c, ok := r.Context().Value(connectionKey{}).(*connection); ok {
			c.handled.Store(true)
		}
		next.ServeHTTP(w, r)
	})
	server.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		return context.WithValue(ctx, connectionKey{}, c)
	}
	server.ConnState = func(c net.Conn, state http.ConnState) {
		if c, ok := c.(*connection); ok && state == http.StateIdle {
			c.handled.Store(false)
		}
	}
	return server.Serve(listener{l, secure})
}

type connectionKey struct{}

type listener struct {
	net.Listener
	secure bool
}

func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if tcp, ok := c.(*net.TCPConn); ok {
		return &connection{TCPConn: tcp, secure: l.secure}, nil
	}
	return c, err
}

// connection embeds *net.TCPConn because net/http also uses its other methods.
type connection struct {
	*net.TCPConn
	secure  bool
	handled atomic.Bool // a handler was called for the current request, so net/http no longer rejects it
}

// refusalHeaders are the headers of net/http's own error responses, after the status
// line. A handler's response never has only these headers, because it has a Date. A 417
// response of net/http has other headers; refusalOf recognizes it by its status.
var refusalHeaders = []byte("\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n")

// Write sends p, or the error envelope if p is an error response of net/http. The content
// of a handler's response may look like one.
func (c *connection) Write(p []byte) (int, error) {
	if c.handled.Load() {
		return c.TCPConn.Write(p)
	}
	status, refused := refusalOf(p)
	if !refused {
		return c.TCPConn.Write(p)
	}
	if _, err := c.TCPConn.Write(envelopeOf(status, c.secure)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// refusalOf reports whether p is an error response of net/http itself, and returns
// its status.
func refusalOf(p []byte) (status int, refused bool) {
	const version = "HTTP/1.1 "
	if len(p) < len(version)+3 || string(p[:len(version)]) != version || p[len(version)] != '4' && p[len(version)] != '5' {
		return 0, false
	}
	status, err := strconv.Atoi(string(p[len(version) : len(version)+3]))
	if err != nil {
		return 0, false
	}
	line := bytes.IndexByte(p, '\r')
	return status, status == 417 || line > 0 && bytes.HasPrefix(p[line:], refusalHeaders)
}

// earlyRefusals are the messages for requests that net/http rejects, by status.
var earlyRefusals = map[int]string{
	400: "The request is not valid HTTP/1.1. Check the request line and the headers, including Host.",
	417: "The Expect header must be 100-continue.",
	431: "The request line and the headers are larger than 32 KiB.",
	501: "The Transfer-Encoding header must be chunked.",
	505: "The server supports HTTP/1.0 and HTTP/1.1.",
}

func envelopeOf(status int, secure bool) []byte {
	message, ok := earlyRefusals[status]
	if !ok {
		message = earlyRefusals[400]
	}
	body, _ := json.Marshal(errorEnvelope{&op.ErrorBody{Code: board.CodeInvalidRequest, Message: message}}) // cannot fail for valid UTF-8
	hsts := ""
	if secure {
		hsts = "Strict-Transport-Security: " + strictTransport + "\r\n"
	}
	return fmt.Appendf(nil, "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nCache-Control: no-store\r\n"+
		"X-Content-Type-Options: nosniff\r\n%sX-Request-Id: %s\r\nConnection: close\r\n\r\n%s",
		status, http.StatusText(status), len(body), hsts, store.NewID("req_"), body)
}
