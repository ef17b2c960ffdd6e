// Package cardwall is a client of the Cardwall API. Client has a method for each operation, and an
// iterator for each list. A request that fails because of the network, or with status 429, 502, 503
// or 504, is sent again. All tries of a write have the same idempotency key, so that it does not
// happen twice.
package cardwall

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	mathrand "math/rand/v2"
	"mime/multipart"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Version is the version of this package.
const Version = "0.1.0"

const apiPath = "/api/public/v1"

// Client is a client of a server. Goroutines can share it. Change its fields before the first call.
type Client struct {
	HTTPClient *http.Client  // follows no redirects, by default
	Timeout    time.Duration // of each try; 30 seconds by default
	MaxRetries int           // how often a request is repeated; 5 by default
	MaxWait    time.Duration // the longest pause between two tries; 2 minutes by default
	UserAgent  string        // the name of the program in the server's log

	base, token string
}

// New returns a client of the server with an address such as https://cardwall.example.com.
func New(baseURL, token string) (*Client, error) {
	u, err := url.Parse(baseURL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" {
		return nil, fmt.Errorf("%q is not the URL of a server", baseURL)
	}
	base := strings.TrimRight(baseURL, "/")
	if !strings.HasSuffix(base, apiPath) {
		base += apiPath
	}
	noRedirects := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Client{
		HTTPClient: &http.Client{CheckRedirect: noRedirects},
		Timeout:    30 * time.Second,
		MaxRetries: 5,
		MaxWait:    2 * time.Minute,
		UserAgent:  "cardwall-go/" + Version,
		base:       base,
		token:      token,
	}, nil
}

// request is a request of an operation.
type request struct {
	method, path string
	query        url.Values
	header       http.Header
	body         any    // sent as JSON, if it is not nil
	content      []byte // otherwise
	contentType  string
	keyed        bool // whether the operation takes an idempotency key
}

// Option is an option of a call.
type Option func(*call)

// call contains the options of a call.
type call struct {
	key      string
	header   http.Header
	response *http.Response
}

// WithIdempotencyKey repeats an earlier call with this key. By default, a call has a new key.
func WithIdempotencyKey(key string) Option { return func(c *call) { c.key = key } }

// IfMatch changes nothing if the object no longer has this ETag. The error is ErrVersionConflict.
func IfMatch(etag string) Option { return func(c *call) { c.header.Set("If-Match", etag) } }

// IfNoneMatch returns ErrNotModified if the response still has this ETag.
func IfNoneMatch(etag string) Option { return func(c *call) { c.header.Set("If-None-Match", etag) } }

// WithResponse stores the status and the headers of the response, such as ETag. Its body is closed.
func WithResponse(response *http.Response) Option {
	return func(c *call) { c.response = response }
}

// NewKey returns a new idempotency key, a random UUID.
func NewKey() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// Request calls an operation that this package may not have. The path follows /api/public/v1, as in
// "/boards". A body that is not nil is sent as JSON. The response is decoded into result, unless it
// is nil; a *[]byte receives the response as it is.
func (c *Client) Request(
	ctx context.Context, method, path string, query url.Values, body, result any, options ...Option,
) error {
	if !strings.HasPrefix(path, "/") {
		return &APIError{Message: fmt.Sprintf("the path %q does not begin with a slash", path), kind: ErrInvalidRequest}
	}
	r := request{method: method, path: path, query: query, body: body, keyed: method != http.MethodGet}
	return c.call(ctx, r, result, nil, options)
}

// call sends a request and decodes the response into result, or into accepted for status 202.
func (c *Client) call(ctx context.Context, r request, result, accepted any, options []Option) error {
	for part := range strings.SplitSeq(r.path[1:], "/") {
		if part == "" || part == "." || part == ".." {
			return &APIError{Message: fmt.Sprintf("%s %s: %q is not an id", r.method, r.path, part), kind: ErrInvalidRequest}
		}
	}
	o := call{header: http.Header{}}
	for _, option := range options {
		option(&o)
	}
	if r.keyed {
		if o.key == "" {
			o.key = NewKey()
		}
		o.header.Set("Idempotency-Key", o.key)
	}
	for name, values := range r.header {
		o.header[name] = values
	}
	if r.body != nil {
		content, err := json.Marshal(r.body)
		if err != nil {
			return fmt.Errorf("%s %s: %w", r.method, r.path, err)
		}
		r.content, r.contentType = content, "application/json"
	}
	if r.contentType != "" {
		o.header.Set("Content-Type", r.contentType)
	}
	o.header.Set("Authorization", "Bearer "+c.token)
	o.header.Set("User-Agent", c.UserAgent)
	response, content, err := c.repeat(ctx, r, o)
	if err != nil {
		return err
	}
	if o.response != nil {
		*o.response = *response
	}
	switch target := result.(type) {
	case nil:
		return nil
	case *[]byte:
		*target = content
		return nil
	}
	if response.StatusCode == http.StatusAccepted && accepted != nil {
		result = accepted
	}
	if err := json.Unmarshal(content, result); err != nil {
		return &APIError{Status: response.StatusCode, Message: r.method + " " + r.path + ": the response is not the expected JSON",
			kind: ErrUnexpectedResponse, cause: err, IdempotencyKey: o.key}
	}
	return nil
}

// repeat sends a request until it succeeds, fails for good or was tried too often.
func (c *Client) repeat(ctx context.Context, r request, o call) (*http.Response, []byte, error) {
	// A write without a key is repeated only if the server refused it.
	safe := o.key != "" || r.method == http.MethodGet || r.method == http.MethodPut || r.method == http.MethodDelete
	for attempt := 0; ; attempt++ {
		response, content, err := c.try(ctx, r, o.header)
		if err == nil && response.StatusCode/100 == 2 {
			return response, content, nil
		}
		var failure *APIError
		if err != nil {
			failure = &APIError{Message: fmt.Sprintf("%s %s: %v", r.method, r.path, err), kind: ErrTransport, cause: err, Retriable: safe}
		} else {
			failure = errorOf(r, response, content)
		}
		failure.IdempotencyKey = o.key
		wait := time.Duration(mathrand.Int64N(int64(backoff(attempt))))
		if err == nil && response.Header.Get("Retry-After") != "" {
			wait = failure.RetryAfter
		}
		if ctx.Err() != nil || !failure.Retriable || attempt >= c.MaxRetries || wait > c.MaxWait {
			return nil, nil, failure
		}
		if err := pause(ctx, wait); err != nil {
			failure.cause = errors.Join(err, failure.cause)
			return nil, nil, failure
		}
	}
}

// backoff returns the longest pause after a try, if the server names none.
func backoff(attempt int) time.Duration {
	return min(20*time.Second, time.Duration(math.Pow(2, float64(attempt))*float64(500*time.Millisecond)))
}

// pause waits. Tests replace it.
var pause = func(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// try sends a request once, and reads the whole response.
func (c *Client) try(ctx context.Context, r request, header http.Header) (*http.Response, []byte, error) {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	target := c.base + r.path
	if len(r.query) > 0 {
		target += "?" + r.query.Encode()
	}
	q, err := http.NewRequestWithContext(ctx, r.method, target, bytes.NewReader(r.content))
	if err != nil {
		return nil, nil, err
	}
	q.Header = header.Clone()
	response, err := c.HTTPClient.Do(q)
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, nil, err
	}
	return response, content, nil
}

// form sets the body of a form with a file.
func (r *request) form(name string, file []byte) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	fileName := "file"
	if name != "" {
		_ = w.WriteField("name", name) // writing to a buffer never fails
		fileName = name
	}
	part, _ := w.CreateFormFile("file", fileName)
	_, _ = part.Write(file)
	_ = w.Close()
	r.content, r.contentType = b.Bytes(), w.FormDataContentType()
}

// iterate yields the records of all pages.
func iterate[T any](page func(cursor string) ([]T, *string, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for cursor := ""; ; {
			records, next, err := page(cursor)
			if err != nil {
				yield(*new(T), err)
				return
			}
			for _, record := range records {
				if !yield(record, nil) {
					return
				}
			}
			if next == nil || *next == "" {
				return
			}
			cursor = *next
		}
	}
}

// segment returns a value as a segment of a path.
func segment(value string) string { return url.PathEscape(value) }

// setValue sets a parameter of a query, if it is not the zero value.
func setValue[T string | int64 | bool](query url.Values, name string, value T) {
	switch v := any(value).(type) {
	case string:
		if v != "" {
			query.Set(name, v)
		}
	case int64:
		if v != 0 {
			query.Set(name, strconv.FormatInt(v, 10))
		}
	case bool:
		if v {
			query.Set(name, "true")
		}
	}
}
