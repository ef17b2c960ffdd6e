package trace

import (
	"encoding/hex"
	"net/http"
	"strings"
)

// The headers of W3C Trace Context. The response header is from its level 2: it
// tells the caller the id of the recorded trace.
const (
	parentHeader   = "Traceparent"
	stateHeader    = "Tracestate"
	responseHeader = "Traceresponse"
	stateMost      = 512 // bytes that must be passed on (3.3.1.5)
)

// remote is the parent span of a request, from its headers.
type remote struct {
	trace   [16]byte
	span    [8]byte
	sampled bool
	state   string
}

// received parses the header traceparent (W3C Trace Context, 3.2). It returns
// false if there is none or it is malformed; then a new trace starts.
func received(header http.Header) (r remote, ok bool) {
	given := header.Values(parentHeader)
	if len(given) != 1 {
		return remote{}, false
	}
	text := given[0]
	if len(text) < 55 || text[2] != '-' || text[35] != '-' || text[52] != '-' || text != strings.ToLower(text) {
		return remote{}, false
	}
	var version, flags [1]byte
	for _, part := range []struct {
		into []byte
		text string
	}{{version[:], text[:2]}, {r.trace[:], text[3:35]}, {r.span[:], text[36:52]}, {flags[:], text[53:55]}} {
		if _, err := hex.Decode(part.into, []byte(part.text)); err != nil {
			return remote{}, false
		}
	}
	// Later versions may add fields after another dash.
	if version[0] == 0xff || version[0] == 0 && len(text) != 55 || len(text) > 55 && text[55] != '-' {
		return remote{}, false
	}
	if r.trace == [16]byte{} || r.span == [8]byte{} {
		return remote{}, false
	}
	r.sampled = flags[0]&1 != 0
	if state := strings.Join(header.Values(stateHeader), ","); len(state) <= stateMost {
		r.state = state
	}
	return r, true
}

// Answer sets the response header with the id of the recorded trace.
func (s *Span) Answer(header http.Header) {
	if s != nil {
		header.Set(responseHeader, "00-"+s.TraceID()+"-"+s.ID()+"-01")
	}
}
