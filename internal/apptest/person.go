package apptest

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"cardwall/internal/app"
	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/rest"
	"cardwall/internal/store"
)

// Person is a user with an account and a token, who calls operations that need a session with a
// new session. Browser returns a Person without either, who uses the browser's cookies.
type Person struct {
	*Service
	ID      string
	Name    string
	Email   string
	Token   string
	From    string            // the client address of requests; a default address if empty
	Cookies map[string]string // cookies of a browser; nil for a program
	limited bool              // whether the token is used even for operations that need a session
}

// Fields is the input of an operation, by field name.
type Fields map[string]any

// Person creates an account and a token with all scopes. The email address is the lowercase name
// at example.com.
func (s *Service) Person(name string) *Person {
	s.T.Helper()
	p := &Person{Service: s, Name: name, Email: strings.ToLower(name) + "@example.com"}
	s.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
		u, err := app.AddUser(ctx, tx, app.NewUser{Email: p.Email, Name: name})
		p.ID = u.ID
		return err
	})
	p.Token = s.token(p.ID, "", board.ScopeRead, board.ScopeWrite, board.ScopeAdmin)
	return p
}

func (s *Service) token(userID, workspaceID string, scopes ...board.Scope) (text string) {
	s.T.Helper()
	s.Write(board.Person(userID), func(ctx context.Context, tx *store.Tx) (err error) {
		_, text, err = app.AddToken(ctx, tx, app.NewToken{Name: TokenName, Scopes: scopes, WorkspaceID: workspaceID})
		return err
	})
	return text
}

// With returns the same person with a token that has only the given scopes.
func (p *Person) With(scopes ...board.Scope) *Person {
	other := *p
	other.Token, other.limited = p.token(p.ID, "", scopes...), true
	return &other
}

// Within returns the same person with a token limited to one workspace.
func (p *Person) Within(workspaceID string) *Person {
	other := *p
	other.Token, other.limited = p.token(p.ID, workspaceID, board.ScopeRead, board.ScopeWrite, board.ScopeAdmin), true
	return &other
}

// TokenName is the name of the tokens with which people call operations.
const TokenName = "Deploy script"

// Issue returns the same person with a new token that has the given properties.
func (p *Person) Issue(in app.NewToken) *Person {
	p.T.Helper()
	other := *p
	other.limited = true
	p.Write(board.Person(p.ID), func(ctx context.Context, tx *store.Tx) (err error) {
		_, other.Token, err = app.AddToken(ctx, tx, in)
		return err
	})
	return &other
}

// At returns the same person, with the same token, at another server process.
func (p *Person) At(node *Service) *Person {
	other := *p
	other.Service = node
	return &other
}

// Workspace creates a workspace on a plan, with the person as its owner.
func (p *Person) Workspace(name string, plan board.Plan) (id string) {
	p.T.Helper()
	p.Write(board.Person(p.ID), func(ctx context.Context, tx *store.Tx) error {
		w, err := app.AddWorkspace(ctx, tx, app.NewWorkspace{Name: name, Plan: plan})
		id = w.ID
		return err
	})
	return id
}

// Joins adds the person to a workspace.
func (p *Person) Joins(workspaceID string, role board.WorkspaceRole) *Person {
	p.T.Helper()
	p.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
		return tx.SetMember(ctx, workspaceID, p.ID, role)
	})
	return p
}

// Response is the response to a request. Data and the fields after it come from a JSON body.
type Response struct {
	t        testing.TB
	Status   int
	Header   http.Header
	Raw      []byte
	whole    any // Raw, decoded
	Data     any
	Expanded map[string]any
	Next     string
	Version  int64
	Code     board.Code
	Message  string
}

// Media returns the media type of the response.
func (a Response) Media() string {
	kind, _, _ := strings.Cut(a.Header.Get("Content-Type"), ";")
	return kind
}

// Call calls an operation by name over REST and checks the response against the OpenAPI
// document.
func (p *Person) Call(name string, in Fields) Response {
	p.T.Helper()
	return p.CallWith(name, in, nil)
}

// Keyed calls an operation with an idempotency key.
func (p *Person) Keyed(key, name string, in Fields) Response {
	p.T.Helper()
	return p.CallWith(name, in, http.Header{"Idempotency-Key": {key}})
}

// Must calls an operation and stops the test unless it succeeds.
func (p *Person) Must(name string, in Fields) Response {
	p.T.Helper()
	a := p.Call(name, in)
	if a.Status/100 != 2 {
		p.T.Fatalf("%s: got status %d, body %s; want success", name, a.Status, a.Raw)
	}
	return a
}

// Refused calls an operation and fails the test unless it returns the given error code.
func (p *Person) Refused(code board.Code, name string, in Fields) Response {
	p.T.Helper()
	a := p.Call(name, in)
	if a.Code != code {
		p.T.Errorf("%s: got status %d, body %s; want the error %s", name, a.Status, a.Raw, code)
	}
	return a
}

// CallWith calls an operation with additional headers.
func (p *Person) CallWith(name string, in Fields, header http.Header) Response {
	p.T.Helper()
	o := p.Registry.Named(name)
	if o == nil {
		p.T.Fatalf("there is no operation %s", name)
	}
	r := p.Request(o, in)
	for k, v := range header {
		r.Header[k] = v
	}
	a := p.Do(r)
	if in[op.FieldsParameter] == nil || a.Status != http.StatusOK { // with chosen fields, required ones may be missing
		p.document.check(p.T, o, a)
	}
	return a
}

// Request creates the HTTP request of a call. For an operation that needs a session, it creates one
// for the person. For append_upload, in also has the offset and the content of the part. For an
// operation that takes a picture, in has its content.
func (p *Person) Request(o *op.Operation, in Fields) *http.Request {
	p.T.Helper()
	target, query, body := rest.Path(o), url.Values{}, Fields{}
	for name, v := range in {
		place := op.InBody
		for _, f := range o.Input.Fields {
			if f.Name == name {
				place = f.In
			}
		}
		switch {
		case place == op.InPath:
			target = strings.ReplaceAll(target, "{"+name+"}", url.PathEscape(fmt.Sprint(v)))
		case place == op.InQuery, o.Method == http.MethodGet:
			query.Set(name, fmt.Sprint(v))
		default:
			body[name] = v
		}
	}
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	var text []byte
	if o.TakesPart() || o.TakesPicture() {
		content, _ := in["content"].(string)
		text = []byte(content)
	} else if o.Input.Body != nil || len(body) > 0 {
		var err error
		if text, err = json.Marshal(body, json.Deterministic(true)); err != nil {
			p.T.Fatalf("encode the input of %s: %v", o.Name, err)
		}
	}
	r := httptest.NewRequest(o.Method, target, bytes.NewReader(text))
	if o.Audience.NeedsSession() && p.Token != "" && !p.limited {
		p.signIn(r)
	}
	switch {
	case o.TakesPart():
		r.Header.Set("Content-Type", op.PartMedia)
		r.Header.Set("Upload-Offset", fmt.Sprint(in["offset"]))
	case o.TakesPicture():
		r.Header.Set("Content-Type", "image/png")
	case len(text) > 0:
		r.Header.Set("Content-Type", "application/json")
	}
	return r
}

// Do sends a request. It adds the person's token unless the request has other credentials.
func (p *Person) Do(r *http.Request) Response {
	p.T.Helper()
	if p.Token != "" && r.Header.Get("Authorization") == "" && r.Header.Get("Cookie") == "" {
		r.Header.Set("Authorization", "Bearer "+p.Token)
	}
	w := httptest.NewRecorder()
	p.addBrowserHeaders(r)
	p.Handler.ServeHTTP(w, r)
	p.storeCookies(w.Result())
	a := Response{t: p.T, Status: w.Code, Header: w.Header(), Raw: w.Body.Bytes()}
	if a.Media() != op.JSON {
		a.whole = string(a.Raw)
		return a
	}
	if err := json.Unmarshal(a.Raw, &a.whole); err != nil {
		p.T.Fatalf("%s %s: the response with status %d is not JSON: %v\n%s", r.Method, r.URL, a.Status, err, a.Raw)
	}
	// Fields that are absent or have an unexpected type stay empty.
	envelope, _ := a.whole.(map[string]any)
	a.Data = envelope["data"]
	a.Expanded, _ = envelope["expanded"].(map[string]any)
	a.Next, _ = envelope["nextCursor"].(string)
	version, _ := envelope["boardVersion"].(float64)
	a.Version = int64(version)
	refusal, _ := envelope["error"].(map[string]any)
	code, _ := refusal["code"].(string)
	a.Code = board.Code(code)
	a.Message, _ = refusal["message"].(string)
	return a
}

// Send sends a request that the test composes itself. path does not include the prefix of the
// public API. headers alternates names and values. The Content-Type of a body is JSON unless headers
// contains another.
func (p *Person) Send(method, path, body string, headers ...string) Response {
	p.T.Helper()
	r := httptest.NewRequest(method, rest.Prefix+path, strings.NewReader(body))
	if body != "" && !slices.Contains(headers, "Content-Type") {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	return p.Do(r)
}

// Get returns a value of the response's data by a path of names and indexes, such as
// "labels.0.name", or nil if there is none.
func (a Response) Get(path string) any {
	v := a.Data
	for part := range strings.SplitSeq(path, ".") {
		switch at := v.(type) {
		case map[string]any:
			v = at[part]
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i >= len(at) {
				return nil
			}
			v = at[i]
		default:
			return nil
		}
	}
	return v
}

// Text returns a string in the response's data. It stops the test if the value at the path is
// not a string.
func (a Response) Text(path string) string {
	a.t.Helper()
	s, ok := a.Get(path).(string)
	if !ok {
		a.t.Fatalf("%s is not a string in %s", path, a.Raw)
	}
	return s
}

// ID returns the id of the response's record.
func (a Response) ID() string { a.t.Helper(); return a.Text("id") }

// Each returns one field of every record of a list as text.
func (a Response) Each(field string) []string {
	a.t.Helper()
	items, ok := a.Data.([]any)
	if !ok {
		a.t.Fatalf("the response is not a list: %s", a.Raw)
	}
	out := make([]string, len(items))
	for i, item := range items {
		out[i] = fmt.Sprint(item.(map[string]any)[field])
	}
	return out
}

// All reads all pages of a list and returns one field of every record as text.
func (p *Person) All(name, field string, in Fields) []string {
	p.T.Helper()
	var out []string
	page := Fields{}
	for k, v := range in {
		page[k] = v
	}
	for {
		a := p.Must(name, page)
		out = append(out, a.Each(field)...)
		if a.Next == "" {
			return out
		}
		page["cursor"] = a.Next
	}
}
