package cardwall

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"
)

// reply is a response of the fake server. If cut is set, the connection is closed instead.
type reply struct {
	status int
	body   string
	header map[string]string
	cut    bool
}

// fake is a server whose responses a test determines.
type fake struct {
	*Client
	mu      sync.Mutex
	replies []reply
	calls   []*http.Request
	bodies  []string
	waits   []time.Duration
}

// newFake returns a server, and a client of it that does not wait between tries.
func newFake(t *testing.T, replies ...reply) *fake {
	f := &fake{replies: replies}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	var err error
	if f.Client, err = New(server.URL, "token"); err != nil {
		t.Fatal(err)
	}
	before := pause
	pause = func(ctx context.Context, wait time.Duration) error {
		f.waits = append(f.waits, wait)
		return ctx.Err()
	}
	t.Cleanup(func() { pause = before })
	return f
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls, f.bodies = append(f.calls, r), append(f.bodies, string(body))
	next := f.replies[0]
	f.replies = f.replies[1:]
	if next.cut {
		panic(http.ErrAbortHandler)
	}
	for name, value := range next.header {
		w.Header().Set(name, value)
	}
	w.WriteHeader(next.status)
	_, _ = io.WriteString(w, next.body)
}

// keys returns the idempotency keys of all requests.
func (f *fake) keys() []string {
	var keys []string
	for _, r := range f.calls {
		keys = append(keys, r.Header.Get("Idempotency-Key"))
	}
	return keys
}

// refusal is an error response of the API.
func refusal(status int, code string, header ...string) reply {
	r := reply{status: status, body: `{"error": {"code": "` + code + `", "message": "It is ` + code + `."}}`, header: map[string]string{}}
	for pair := range slices.Chunk(header, 2) {
		r.header[pair[0]] = pair[1]
	}
	return r
}

var card = reply{status: 200, body: `{"data": {"id": "crd_1"}, "boardVersion": 7}`}

func TestAllTriesHaveTheSameKey(t *testing.T) {
	f := newFake(t, refusal(503, "unavailable"), reply{status: 502, body: "<html>"}, reply{status: 504}, reply{cut: true},
		refusal(409, "invalid_request", "Retry-After", "1"), card, card)
	if _, err := f.CreateCard(t.Context(), CreateCardParams{ListID: "lst_1", Title: "A"}); err != nil {
		t.Fatal(err)
	}
	keys := f.keys()
	if len(keys) != 6 || len(slices.Compact(keys)) != 1 || keys[0] == "" {
		t.Errorf("the keys are %q, want six times the same", f.keys())
	}
	if _, err := f.CreateCard(t.Context(), CreateCardParams{ListID: "lst_1", Title: "A"}); err != nil {
		t.Fatal(err)
	}
	if f.keys()[6] == f.keys()[0] {
		t.Error("another call has the same key")
	}
}

func TestPauses(t *testing.T) {
	f := newFake(t, slices.Repeat([]reply{refusal(503, "unavailable")}, 6)...)
	_, err := f.CreateCard(t.Context(), CreateCardParams{}, WithIdempotencyKey("mine"))
	var e *APIError
	if !errors.As(err, &e) || !errors.Is(err, ErrUnavailable) || e.IdempotencyKey != "mine" || len(f.calls) != 6 {
		t.Errorf("the error is %#v after %d tries", err, len(f.calls))
	}
	for i, wait := range f.waits {
		if limit := time.Duration(1<<i) * 500 * time.Millisecond; backoff(i) != limit || wait > limit {
			t.Errorf("pause %d is %v of at most %v", i, wait, limit)
		}
	}

	f = newFake(t, refusal(429, "rate_limited", "Retry-After", "7"), card)
	if _, err := f.GetCard(t.Context(), "crd_1", GetCardParams{}); err != nil || f.waits[0] != 7*time.Second {
		t.Errorf("the error is %v after pauses of %v, want 7s", err, f.waits)
	}
	f = newFake(t, refusal(429, "rate_limited", "Retry-After", "3600"))
	_, err = f.GetCard(t.Context(), "crd_1", GetCardParams{})
	if !errors.Is(err, ErrRateLimited) || len(f.waits) != 0 {
		t.Errorf("the error is %v after pauses of %v", err, f.waits)
	}
}

func TestWriteWithoutKey(t *testing.T) {
	f := newFake(t, refusal(503, "unavailable"), reply{status: 204})
	if err := f.AppendUpload(t.Context(), "upl_1", 5, []byte("a")); err != nil {
		t.Error(err)
	}
	f = newFake(t, reply{cut: true}, reply{status: 204})
	if err := f.AppendUpload(t.Context(), "upl_1", 5, []byte("a")); !errors.Is(err, ErrTransport) || len(f.calls) != 1 {
		t.Errorf("the error is %v after %d tries", err, len(f.calls))
	}
}

func TestTimeoutAndCancel(t *testing.T) {
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	defer server.Close()
	defer close(release)
	client, _ := New(server.URL, "token")
	client.Timeout, client.MaxRetries = 50*time.Millisecond, 0
	if _, err := client.GetMe(t.Context(), GetMeParams{}); !errors.Is(err, ErrTransport) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the error is %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	client.Timeout, client.MaxRetries = time.Minute, 5
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, err := client.GetMe(ctx, GetMeParams{}); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}

func TestErrors(t *testing.T) {
	for code, kind := range kinds {
		f := newFake(t, refusal(400, code, "X-Request-Id", "req_1"))
		_, err := f.UpdateCard(t.Context(), "crd_1", UpdateCardParams{})
		var e *APIError
		if !errors.As(err, &e) || !errors.Is(err, kind) || e.Code != code || e.RequestID != "req_1" || e.Error() != "It is "+code+"." {
			t.Errorf("%s: the error is %#v", code, err)
		}
	}
	for _, c := range []struct {
		reply reply
		kinds []error
	}{
		{refusal(403, "insufficient_scope"), []error{ErrInsufficientScope, ErrForbidden}},
		{refusal(405, "invalid_request"), []error{ErrUnsupported}},
		{reply{status: 404, body: "404 page not found"}, []error{ErrUnsupported}},
		{
			reply{status: 404, body: `{"error": {"code": "not_found", "message": "No such path.", "reason": "unknown_path"}}`},
			[]error{ErrUnsupported},
		},
		{reply{status: 304}, []error{ErrNotModified}},
		{reply{status: 400, body: "<html>"}, []error{ErrUnexpectedResponse}},
		{reply{status: 200, body: "<html>"}, []error{ErrUnexpectedResponse}},
		{reply{status: 412, body: `{"error": {"code": "invalid_request", "message": "m", "reason": "version_conflict", "current": {"id": 1}}}`},
			[]error{ErrVersionConflict, ErrConflict}},
	} {
		f := newFake(t, c.reply)
		_, err := f.GetCard(t.Context(), "crd_1", GetCardParams{}, IfNoneMatch(`"1"`))
		for _, kind := range c.kinds {
			if !errors.Is(err, kind) {
				t.Errorf("%v: the error is %v, want %v", c.reply, err, kind)
			}
		}
		var e *APIError
		if errors.As(err, &e) && c.reply.status == 412 && string(e.Current) != `{"id": 1}` {
			t.Errorf("the current object is %s", e.Current)
		}
	}
	f := newFake(t)
	if _, err := f.GetCard(t.Context(), "", GetCardParams{}); err == nil || len(f.calls) != 0 {
		t.Errorf("the error for an empty id is %v", err)
	}
}

func TestRequest(t *testing.T) {
	f := newFake(t, card, reply{status: 200, body: `{"data": []}`}, card, card)
	f.replies[0].header = map[string]string{"ETag": `"1"`}
	var response http.Response
	params := UpdateCardsParams{CardIDs: []string{"crd_1"}, DueDate: Null[string](), Position: After("crd_2"), Done: Ptr(false)}
	if _, err := f.UpdateCards(t.Context(), "a/b", params, IfMatch(`"0"`), WithResponse(&response)); err != nil {
		t.Fatal(err)
	}
	want := `{"cardIds":["crd_1"],"done":false,"dueDate":null,"position":{"after":"crd_2"}}`
	if f.bodies[0] != want || f.calls[0].URL.EscapedPath() != "/api/public/v1/boards/a%2Fb/cards" || response.Header.Get("ETag") != `"1"` {
		t.Errorf("the request is %s %s, the response %v", f.calls[0].URL, f.bodies[0], response.Header)
	}
	if h := f.calls[0].Header; h.Get("If-Match") != `"0"` || h.Get("Authorization") != "Bearer token" {
		t.Errorf("the headers are %v", h)
	}
	if _, err := f.ListBoards(t.Context(), ListBoardsParams{IncludeArchived: true, Limit: 3}); err != nil {
		t.Fatal(err)
	}
	if q := f.calls[1].URL.RawQuery; q != "includeArchived=true&limit=3" {
		t.Errorf("the query is %s", q)
	}
	if _, err := f.AddAttachmentFile(t.Context(), "crd_1", AddAttachmentFileParams{Name: "a.txt", File: []byte("file")}); err != nil {
		t.Fatal(err)
	}
}

func TestIterate(t *testing.T) {
	f := newFake(t, reply{status: 200, body: `{"data": [{"id": "a"}, {"id": "b"}], "nextCursor": "c1"}`},
		reply{status: 200, body: `{"data": [], "nextCursor": "c2"}`}, refusal(404, "not_found"))
	var got []string
	for card, err := range f.IterateCards(t.Context(), "brd_1", ListCardsParams{Label: "l"}) {
		got = append(got, fmt.Sprint(card.ID, err))
	}
	if want := []string{"a<nil>", "b<nil>", "It is not_found."}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for i, want := range []string{"label=l", "cursor=c1&label=l", "cursor=c2&label=l"} {
		if got := f.calls[i].URL.RawQuery; got != want {
			t.Errorf("query %d is %s, want %s", i, got, want)
		}
	}
}

func TestPosition(t *testing.T) {
	for want, position := range map[string]*Position{
		`"top"`: Top(), `"bottom"`: Bottom(), `{"before":"a"}`: Before("a"), `{"after":"a"}`: After("a"),
	} {
		if got, err := json.Marshal(position); err != nil || string(got) != want {
			t.Errorf("got %s, %v, want %s", got, err, want)
		}
	}
}

func TestNullable(t *testing.T) {
	type record struct {
		A, B, C Nullable[string] `json:",omitzero"`
	}
	data, err := json.Marshal(record{B: Null[string](), C: Value("x")})
	if err != nil || string(data) != `{"B":null,"C":"x"}` {
		t.Errorf("got %s, %v", data, err)
	}
	var back record
	if err := json.Unmarshal(data, &back); err != nil || back.A.Set || !back.B.Set || back.B.Value != nil || *back.C.Value != "x" {
		t.Errorf("got %+v, %v", back, err)
	}
}

func TestRequestOfAnyOperation(t *testing.T) {
	f := newFake(t, reply{status: 503}, reply{status: 200, body: `{"data": 1}`}, reply{status: 200, body: "text"})
	var result struct{ Data int }
	err := f.Request(t.Context(), "POST", "/new", url.Values{"q": {"a&b"}}, map[string]int{"n": 7}, &result)
	if err != nil || result.Data != 1 || f.bodies[1] != `{"n":7}` || f.calls[1].URL.RequestURI() != "/api/public/v1/new?q=a%26b" {
		t.Errorf("got %v, error %v, body %s, %s", result, err, f.bodies[1], f.calls[1].URL)
	}
	if key := f.calls[0].Header.Get("Idempotency-Key"); key == "" || key != f.calls[1].Header.Get("Idempotency-Key") {
		t.Errorf("got the key %q in the first try, want the same in both", key)
	}
	var raw []byte
	if err := f.Request(t.Context(), "GET", "/text", nil, nil, &raw); err != nil || string(raw) != "text" || f.bodies[2] != "" {
		t.Errorf("got %q, error %v, body %q", raw, err, f.bodies[2])
	}
	if err := f.Request(t.Context(), "GET", "boards", nil, nil, nil); !errors.Is(err, ErrInvalidRequest) {
		t.Errorf("got %v for a path without a slash, want ErrInvalidRequest", err)
	}
}
