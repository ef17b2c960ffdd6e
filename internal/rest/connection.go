package rest

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"strconv"

	"github.com/go-json-experiment/json"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// Listener returns a listener whose connections send the error envelope for the
// requests that net/http refuses before any handler sees them: malformed ones
// (400), headers over the limit (431), unknown transfer codings (501) and unknown
// expectations (417). The server writes those refusals to the connection itself,
// as plain text or without a body.
func Listener(l net.Listener) net.Listener { return listener{l} }

type listener struct{ net.Listener }

func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if tcp, ok := c.(*net.TCPConn); ok {
		return &connection{tcp}, nil
	}
	return c, err
}

// connection keeps the methods of a TCP connection that net/http looks for.
type connection struct{ *net.TCPConn }

// The headers of net/http's own error responses. Responses of handlers are never
// mistaken for one, because they have a Date header in between.
var refusalHeaders = []byte("\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n")

// Write sends p, or the error envelope if p is an error response of net/http.
func (c *connection) Write(p []byte) (int, error) {
	status, refused := refusalOf(p)
	if !refused {
		return c.TCPConn.Write(p)
	}
	if _, err := c.TCPConn.Write(envelopeOf(status)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// refusalOf returns the status of an error response that net/http wrote itself.
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
	400: "The request is not valid HTTP/1.1. Check the request line, the headers and Host.",
	417: "The header Expect must be 100-continue.",
	431: "The headers are larger than 32 KiB.",
	501: "The header Transfer-Encoding must be chunked.",
	505: "The server supports HTTP/1.0 and HTTP/1.1.",
}

func envelopeOf(status int) []byte {
	message, ok := earlyRefusals[status]
	if !ok {
		message = earlyRefusals[400]
	}
	body, _ := json.Marshal(errorEnvelope{errorBody{Code: board.CodeInvalidRequest, Message: message}}) // two strings always encode
	return fmt.Appendf(nil, "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nCache-Control: no-store\r\n"+
		"X-Content-Type-Options: nosniff\r\nX-Request-Id: %s\r\nConnection: close\r\n\r\n%s",
		status, http.StatusText(status), len(body), store.NewID("req_"), body)
}
