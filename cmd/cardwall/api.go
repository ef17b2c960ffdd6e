package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

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
	Token  string   `placeholder:"TOKEN" help:"API token. Use the environment variable, because ps shows flags to every user."`
}

func (apiCommand) Help() string {
	return "Sends a request with the token in CARDWALL_TOKEN to the server in CARDWALL_BASE_URL, and prints the JSON of the response. " +
		"Repeats the request if the network fails, the rate limit is reached or the server is unavailable; a write is not " +
		"done twice. Exits with a non-zero status if the server returns an error.\n\n" +
		"Examples:\n" +
		"  cardwall api GET /boards -f workspaceId=wsp_01jb2m3n4p5q6r7s8t9v0w1x2y --all\n" +
		"  cardwall api POST /cards -f listId=lst_01jb2m3n4p5q6r7s8t9v0w1x2y -f title=\"Write the press release\"\n" +
		"  cardwall api PATCH /cards/crd_01jb2m3n4p5q6r7s8t9v0w1x2y -f done=true\n" +
		"  echo '{\"text\": \"Done.\"}' | cardwall api POST /cards/crd_01jb2m3n4p5q6r7s8t9v0w1x2y/comments --body -"
}

const (
	apiTries   = 5
	apiTimeout = time.Minute     // for each try
	apiPause   = time.Second     // before the second try; doubles with each further one
	apiMaxWait = 2 * time.Minute // the longest wait that a server may ask for
)

func (c apiCommand) Run(ctx context.Context, g *globals) error {
	if c.Token == "" {
		return errors.New("set CARDWALL_TOKEN to an API token, which you can create in the profile")
	}
	r, err := c.request(g)
	if err != nil {
		return err
	}
	for {
		status, body, err := r.send(ctx)
		if err != nil {
			return err
		}
		if status >= http.StatusMultipleChoices {
			return apiError(status, body)
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

// apiRequest is a request that can be sent several times.
type apiRequest struct {
	method, address string
	query           url.Values
	body            []byte // nil for none
	header          http.Header
	client          *http.Client
}

// request returns the request that the arguments describe.
func (c apiCommand) request(g *globals) (*apiRequest, error) {
	r := &apiRequest{method: strings.ToUpper(c.Method),
		header: http.Header{"Authorization": {"Bearer " + c.Token}, "User-Agent": {"cardwall/" + apiVersion()}},
		// A client that follows a redirect sends a POST as a GET.
		client: &http.Client{Timeout: apiTimeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	path, query, _ := strings.Cut(c.Path, "?")
	r.address = strings.TrimSuffix(g.BaseURL, "/") + rest.Prefix + "/" + strings.TrimPrefix(strings.TrimPrefix(path, rest.Prefix), "/")
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
	switch {
	case c.Body == "-":
		r.body, err = io.ReadAll(g.stdin)
	case c.Body != "":
		r.body, err = os.ReadFile(c.Body)
	case len(fields) > 0:
		r.body, err = json.Marshal(fields, json.Deterministic(true))
	}
	if err != nil {
		return nil, fmt.Errorf("read the body: %w", err)
	}
	if r.body != nil {
		r.header.Set("Content-Type", "application/json")
	}
	if !reads {
		if c.Key == "" {
			c.Key = uuid.NewString()
		}
		r.header.Set("Idempotency-Key", c.Key)
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

// send sends the request until there is a response that further tries would not change.
func (r *apiRequest) send(ctx context.Context) (status int, body []byte, err error) {
	for try := 1; ; try++ {
		var wait time.Duration
		status, body, wait, err = r.try(ctx)
		// A write whose first try is still in progress is refused with 409 and Retry-After.
		again := err != nil || wait > 0 || status == http.StatusTooManyRequests ||
			status >= http.StatusBadGateway && status <= http.StatusGatewayTimeout
		if !again || try == apiTries || wait > apiMaxWait || ctx.Err() != nil {
			return status, body, err
		}
		if wait == 0 {
			wait = apiPause << (try - 1)
		}
		select {
		case <-ctx.Done():
			return 0, nil, ctx.Err()
		case <-time.After(wait):
		}
	}
}

// try sends the request once. It returns how long the server asks to wait; 0 if it does not.
func (r *apiRequest) try(ctx context.Context) (status int, body []byte, wait time.Duration, err error) {
	address := r.address
	if len(r.query) > 0 {
		address += "?" + r.query.Encode()
	}
	request, err := http.NewRequestWithContext(ctx, r.method, address, bytes.NewReader(r.body))
	if err != nil {
		return 0, nil, 0, err
	}
	request.Header = r.header
	response, err := r.client.Do(request)
	if err != nil {
		return 0, nil, 0, fmt.Errorf("the server does not respond: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	if body, err = io.ReadAll(response.Body); err != nil {
		return 0, nil, 0, fmt.Errorf("the response ended early: %w", err)
	}
	seconds, _ := strconv.Atoi(response.Header.Get("Retry-After")) // 0 if it is absent
	return response.StatusCode, body, time.Duration(seconds) * time.Second, nil
}

// apiError returns the error that a response describes.
func apiError(status int, body []byte) error {
	var envelope struct {
		Error struct {
			Code    string `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	if err := json.Unmarshal(body, &envelope); err != nil || envelope.Error.Code == "" {
		return fmt.Errorf("status %d, without an error of the API; check --base-url", status)
	}
	return fmt.Errorf("status %d, %s: %s", status, envelope.Error.Code, envelope.Error.Message)
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
