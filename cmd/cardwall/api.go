package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cardwall/clients/go"
	"cardwall/internal/rest"
)

// apiCommand sends a request to the public API of any server.
type apiCommand struct {
	Method string   `arg:"" help:"GET, POST, PUT, PATCH or DELETE."`
	Path   string   `arg:"" help:"Path in the public API, such as /boards."`
	Field  []string `short:"f" env:"-" sep:"none" placeholder:"NAME=VALUE" help:"${help_api_field}"`
	Body   string   `env:"-" placeholder:"FILE" help:"File with the JSON body; - is standard input. Fields are then sent in the query."`
	All    bool     `env:"-" help:"Read all pages of a list, and print each record on a line."`
	Key    string   `env:"-" placeholder:"KEY" help:"Idempotency key of a write. Repeat a write with its key to learn its result (default: a random key)."`
	remoteFlags
}

func (apiCommand) Help() string {
	return "Sends a request to the server of your login, and prints the JSON of the response. With an API token in CARDWALL_TOKEN, " +
		"it is the server in CARDWALL_BASE_URL. " +
		"Repeats the request if the network fails, the rate limit is reached or the server is unavailable; a write is not " +
		"done twice. Exits with a non-zero status if the server returns an error.\n\n" +
		"Examples:\n" +
		"  cardwall api GET /boards -f workspaceId=wsp_01jb2m3n4p5q6r7s8t9v0w1x2y --all\n" +
		"  cardwall api POST /cards -f listId=lst_01jb2m3n4p5q6r7s8t9v0w1x2y -f title=\"Write the press release\"\n" +
		"  cardwall api PATCH /cards/crd_01jb2m3n4p5q6r7s8t9v0w1x2y -f done=true\n" +
		"  echo '{\"text\": \"Done.\"}' | cardwall api POST /cards/crd_01jb2m3n4p5q6r7s8t9v0w1x2y/comments --body -"
}

func (c apiCommand) Run(ctx context.Context, g *globals) error {
	r, err := c.request(g)
	if err != nil {
		return err
	}
	client, err := c.client(ctx, g)
	if err != nil {
		return err
	}
	var options []cardwall.Option
	if c.Key != "" {
		options = append(options, cardwall.WithIdempotencyKey(c.Key))
	}
	for {
		var body []byte
		if err := client.Request(ctx, r.method, r.path, r.query, r.body, &body, options...); err != nil {
			return err
		}
		if !c.All {
			return g.printJSON(body)
		}
		next, err := g.printRecords(body)
		if err != nil || next == "" {
			return err
		}
		r.query.Set("cursor", next)
	}
}

// apiRequest is what the arguments describe.
type apiRequest struct {
	method, path string
	query        url.Values
	body         any // nil for none
}

func (c apiCommand) request(g *globals) (*apiRequest, error) {
	path, query, _ := strings.Cut(c.Path, "?")
	r := &apiRequest{
		method: strings.ToUpper(c.Method),
		path:   "/" + strings.TrimPrefix(strings.TrimPrefix(path, rest.Prefix), "/"),
	}
	var err error
	if r.query, err = url.ParseQuery(query); err != nil {
		return nil, fmt.Errorf("the query of the path is malformed: %w", err)
	}
	reads := r.method == http.MethodGet
	if c.All && !reads {
		return nil, errors.New("--all needs the method GET")
	}
	fields := map[string]jsontext.Value{}
	for _, f := range c.Field {
		name, value, ok := strings.Cut(f, "=")
		switch {
		case !ok || name == "":
			return nil, fmt.Errorf("--field %s must have the form NAME=VALUE", f)
		case reads || c.Body != "":
			r.query.Add(name, value)
		default:
			fields[name] = fieldValue(value)
		}
	}
	var body []byte
	switch {
	case c.Body == "-":
		body, err = io.ReadAll(g.stdin)
	case c.Body != "":
		body, err = os.ReadFile(c.Body)
	case len(fields) > 0:
		body, err = json.Marshal(fields, json.Deterministic(true))
	}
	if err != nil {
		return nil, fmt.Errorf("read the body: %w", err)
	}
	if body != nil {
		if !jsontext.Value(body).IsValid() {
			return nil, errors.New("the body is not JSON")
		}
		r.body = jsontext.Value(body)
	}
	return r, nil
}

// fieldValue returns a value as JSON. What is not JSON, such as 007, is a string.
func fieldValue(text string) jsontext.Value {
	if v := jsontext.Value(text); v.IsValid() {
		return v
	}
	quoted, _ := jsontext.AppendQuote(nil, text)
	return quoted
}

// printJSON prints a body with indentation if it is JSON, and as it is otherwise.
func (g *globals) printJSON(body []byte) error {
	v := jsontext.Value(body)
	if len(body) > 0 && v.Indent(jsontext.WithIndent("  ")) == nil {
		v = append(v, '\n')
	}
	_, err := g.stdout.Write(v)
	return err
}

// printRecords prints each record of a page on a line, and returns the cursor of the next page.
func (g *globals) printRecords(body []byte) (next string, err error) {
	var page struct {
		Data       []jsontext.Value `json:"data"`
		NextCursor string           `json:"nextCursor"`
	}
	if err := json.Unmarshal(body, &page); err != nil {
		return "", errors.New("the response is not a list, so --all has no effect on it")
	}
	for _, record := range page.Data {
		if _, err := fmt.Fprintf(g.stdout, "%s\n", record); err != nil {
			return "", err
		}
	}
	return page.NextCursor, nil
}
