package rest_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"cardwall/internal/catalog"
	"cardwall/internal/op"
	"cardwall/internal/rest"
)

type postmanValue struct {
	Key      string `json:"key"`
	Value    string `json:"value"`
	Disabled bool   `json:"disabled"`
}

type postmanItem struct {
	Name    string        `json:"name"`
	Items   []postmanItem `json:"item"`
	Request struct {
		Method string `json:"method"`
		URL    struct {
			Raw       string         `json:"raw"`
			Host      []string       `json:"host"`
			Path      []string       `json:"path"`
			Query     []postmanValue `json:"query"`
			Variables []postmanValue `json:"variable"`
		} `json:"url"`
		Header []postmanValue `json:"header"`
		Body   struct {
			Mode string `json:"mode"`
			Raw  string `json:"raw"`
		} `json:"body"`
	} `json:"request"`
}

// The Postman collection has a request for each public operation: with its path, its required parameters, a new
// idempotency key each time, and an example body.
func TestPostmanCollection(t *testing.T) {
	t.Parallel()
	r := catalog.New(catalog.Parts{})
	text, err := rest.Postman(r, "1", "https://cards.example.com")
	if err != nil {
		t.Fatal(err)
	}
	var c struct {
		Variables []postmanValue `json:"variable"`
		Items     []postmanItem  `json:"item"`
	}
	if err := json.Unmarshal(text, &c); err != nil {
		t.Fatal(err)
	}
	if c.Variables[0].Value != "https://cards.example.com/api/public/v1" {
		t.Errorf("got the variables %v, want the address of the server first", c.Variables)
	}
	requests := map[string]postmanItem{}
	for _, folder := range c.Items {
		for _, item := range folder.Items {
			requests[item.Name] = item
		}
	}
	variable := regexp.MustCompile(`\{(\w+)\}`)
	for _, o := range r.All() {
		if o.Audience != op.Public {
			continue
		}
		p := requests[o.Name].Request
		delete(requests, o.Name)
		want := variable.ReplaceAllString(o.Path, ":$1")
		if p.Method != o.Method || p.URL.Raw != "{{baseUrl}}"+want || "/"+strings.Join(p.URL.Path, "/") != want ||
			!slices.Equal(p.URL.Host, []string{"{{baseUrl}}"}) {
			t.Errorf("%s: got %s %v, want %s %s", o.Name, p.Method, p.URL, o.Method, want)
		}
		for _, f := range o.Input.Fields {
			values := map[op.Location][]postmanValue{op.InPath: p.URL.Variables, op.InQuery: p.URL.Query}[f.In]
			i := slices.IndexFunc(values, func(v postmanValue) bool { return v.Key == f.Name })
			if f.In != op.InBody && (i < 0 || values[i].Disabled == f.Required || f.In == op.InQuery && f.Required && values[i].Value == "") {
				t.Errorf("%s: got the parameters %v, want %s, with a value if it is required and disabled if not", o.Name, values, f.Name)
			}
		}
		key := slices.Contains(p.Header, postmanValue{Key: "Idempotency-Key", Value: "{{$guid}}"})
		if key != o.Keyed() {
			t.Errorf("%s: got the headers %v, want an idempotency key: %v", o.Name, p.Header, o.Keyed())
		}
		var body map[string]any
		file := o.TakesPicture() || o.TakesPart()
		if o.Input.Body != nil && !file && (p.Body.Mode != "raw" || json.Unmarshal([]byte(p.Body.Raw), &body) != nil) {
			t.Errorf("%s: got the body %v, want an example", o.Name, p.Body)
		}
		if file && p.Body.Mode != "file" {
			t.Errorf("%s: got the body %v, want a file", o.Name, p.Body)
		}
	}
	for name := range requests {
		t.Errorf("the collection has %s, which is not a public operation", name)
	}
}
