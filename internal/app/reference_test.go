package app_test

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cardwall/internal/apptest"
	"cardwall/internal/op"
	"cardwall/internal/rest"
)

// firstProgram is the name of the programs in the introduction of the reference page, which call get_me.
const firstProgram = "first"

var (
	articleText = regexp.MustCompile(`(?s)<(?:article class="op"|section class="guide") id="([a-z_]+)"(.*?)</(?:article|section)>`)
	programText = regexp.MustCompile(`(?s)<figure class="program" data-language="(\w+)">.*?<code>(.*?)</code>`)
	idInQuery   = regexp.MustCompile(`^[a-z]{3}_[0-9a-z]{26}$`)
)

// TestReferencePrograms runs every example of the reference page in every language, as the page shows it.
// A proxy replaces the IDs of the examples by those of the world.
func TestReferencePrograms(t *testing.T) {
	t.Parallel()
	for _, language := range []struct {
		name  string
		start func(t *testing.T, dir string, programs map[string]string) *runner
	}{
		{"curl", startCurl}, {"TypeScript", startTypeScript}, {"Python", startPython}, {"Go", startGo},
	} {
		t.Run(language.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s := apptest.New(t, filepath.Join(dir, "world.db"), apptest.Options{})
			w := newWorld(s)
			p := &referenceProxy{calls: documentedCalls(t, s)}
			server := httptest.NewServer(p)
			t.Cleanup(server.Close)
			programs := map[string]string{}
			for name, text := range referencePrograms(t, s, language.name) {
				programs[name] = strings.ReplaceAll(text, apptest.BaseURL, server.URL)
			}
			for name, text := range map[string]string{"picture.png": apptest.Picture(40, 30), "part.bin": "A film."} {
				writeFile(t, filepath.Join(dir, name), text)
			}
			r := language.start(t, dir, programs)
			p.runAll(t, w, r)
		})
	}
}

// referencePrograms returns the programs of the reference page in a language, by operation.
func referencePrograms(t *testing.T, s *apptest.Service, language string) map[string]string {
	t.Helper()
	page := httptest.NewRecorder()
	s.Handler.ServeHTTP(page, httptest.NewRequest(http.MethodGet, "/docs", nil))
	programs := map[string]string{}
	for _, article := range articleText.FindAllStringSubmatch(page.Body.String(), -1) {
		name := article[1]
		if name == "authentication" {
			name = firstProgram
		}
		for _, program := range programText.FindAllStringSubmatch(article[2], -1) {
			if program[1] == language {
				programs[name] = html.UnescapeString(program[2])
			}
		}
	}
	for _, o := range s.Registry.All() {
		if o.Audience == op.Public && programs[o.Name] == "" {
			t.Errorf("the reference page has no example of %s in %s", o.Name, language)
		}
	}
	if programs[firstProgram] == "" {
		t.Fatalf("the reference page has no first program in %s", language)
	}
	return programs
}

// documentedCall is the example of a request in the OpenAPI document.
type documentedCall struct {
	path string
	body jsontext.Value // nil for none
}

// documentedCalls returns the examples of requests in the OpenAPI document, by operation.
func documentedCalls(t *testing.T, s *apptest.Service) map[string]documentedCall {
	t.Helper()
	response := httptest.NewRecorder()
	s.Handler.ServeHTTP(response, httptest.NewRequest(http.MethodGet, rest.Prefix+"/openapi.json", nil))
	type parameter struct {
		Ref    string `json:"$ref"`
		Name   string `json:"name"`
		Schema struct {
			Examples []any `json:"examples"`
		} `json:"schema"`
	}
	var document struct {
		Paths map[string]map[string]struct {
			Name       string      `json:"operationId"`
			Parameters []parameter `json:"parameters"`
			Body       struct {
				Content map[string]struct {
					Example jsontext.Value `json:"example"`
				} `json:"content"`
			} `json:"requestBody"`
		} `json:"paths"`
		Components struct {
			Parameters map[string]parameter `json:"parameters"`
		} `json:"components"`
	}
	if err := json.Unmarshal(response.Body.Bytes(), &document); err != nil {
		t.Fatal(err)
	}
	calls := map[string]documentedCall{}
	for path, methods := range document.Paths {
		for _, o := range methods {
			call := documentedCall{rest.Prefix + path, o.Body.Content[op.JSON].Example}
			for _, p := range o.Parameters {
				if p.Ref != "" {
					p = document.Components.Parameters[strings.TrimPrefix(p.Ref, "#/components/parameters/")]
				}
				if len(p.Schema.Examples) > 0 {
					call.path = strings.ReplaceAll(call.path, "{"+p.Name+"}", fmt.Sprint(p.Schema.Examples[0]))
				}
			}
			calls[o.Name] = call
		}
	}
	return calls
}

// referenceProxy sends the requests of an example to the server of a world.
type referenceProxy struct {
	calls map[string]documentedCall // by operation

	mu        sync.Mutex
	handler   http.Handler
	token     string
	operation *op.Operation
	in        fields         // its input in the world
	path      string         // with the real IDs
	real      jsontext.Value // the body with the real IDs
	requests  int
	problem   string // with the last request that failed or was not as documented
}

// runAll runs the first program and those of all operations.
func (p *referenceProxy) runAll(t *testing.T, w *world, r *runner) {
	p.operation = w.Registry.Named("get_me")
	p.run(t, w, nil, r, firstProgram)
	for _, o := range w.Registry.All() {
		if o.Audience == op.Public {
			p.operation = o
			p.run(t, w, w.sample(t, o), r, o.Name)
		}
	}
}

// run runs a program that calls p.operation, of which in is the input in the world.
func (p *referenceProxy) run(t *testing.T, w *world, in fields, r *runner, name string) {
	o := p.operation
	request := w.owner.Request(o, in)
	body, err := io.ReadAll(request.Body)
	if err != nil {
		t.Fatal(err)
	}
	p.mu.Lock()
	p.handler, p.token, p.in = w.Handler, w.owner.Token, in
	p.path, p.real, p.requests, p.problem = request.URL.Path, body, 0, ""
	p.mu.Unlock()
	err = r.run(name)
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.problem != "":
		t.Errorf("%s: %s", name, p.problem)
	case err != nil:
		t.Errorf("%s: %v", name, err)
	case p.requests == 0:
		t.Errorf("%s: it sent no request", name)
	}
}

// ServeHTTP compares a request with the documented one, and sends the real one to the server.
func (p *referenceProxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		p.problem = err.Error()
	}
	want := p.calls[p.operation.Name]
	if r.Method != p.operation.Method || r.URL.Path != want.path {
		p.problem = fmt.Sprintf("got %s %s, want %s %s", r.Method, r.URL.Path, p.operation.Method, want.path)
	}
	if got := r.Header.Get("Authorization"); got != "Bearer secret" {
		p.problem = fmt.Sprintf("got Authorization: %q, want the token", got)
	}
	r.Header.Set("Authorization", "Bearer "+p.token)
	r.URL.Path, r.URL.RawPath, r.RequestURI = p.path, "", ""
	query := r.URL.Query()
	for name := range query {
		if idInQuery.MatchString(query.Get(name)) {
			query.Set(name, fmt.Sprint(p.in[name]))
		}
	}
	r.URL.RawQuery = query.Encode()
	switch {
	case p.operation.TakesPart(), p.operation.TakesPicture():
		if string(body) != p.in["content"] {
			p.problem = fmt.Sprintf("got a body of %d bytes, want the file", len(body))
		}
		if p.operation.TakesPart() {
			r.Header.Set("Upload-Offset", fmt.Sprint(p.in["offset"]))
		}
	case want.body == nil && len(body) > 0, want.body != nil && !sameJSON(body, want.body):
		p.problem = fmt.Sprintf("got the body %s, want %s", body, want.body)
	case want.body != nil:
		body = p.real
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	response := httptest.NewRecorder()
	p.handler.ServeHTTP(response, r)
	p.requests++
	if response.Code >= 300 && p.problem == "" {
		p.problem = fmt.Sprintf("status %d: %s", response.Code, response.Body)
	}
	for name, values := range response.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(response.Code)
	_, _ = w.Write(response.Body.Bytes()) // a client that has gone fails itself
}

func sameJSON(a, b jsontext.Value) bool {
	a, b = a.Clone(), b.Clone()
	return a.Canonicalize() == nil && b.Canonicalize() == nil && bytes.Equal(a, b)
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
