package fleet

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// Client sends requests to several servers. It is safe for concurrent use.
type Client struct {
	Token string
	HTTP  *http.Client
}

// NewClient returns a client whose requests time out after the given duration.
func NewClient(token string, timeout time.Duration) *Client {
	return &Client{Token: token, HTTP: &http.Client{Timeout: timeout, Transport: &http.Transport{MaxIdleConnsPerHost: 128,
		IdleConnTimeout: 20 * time.Second}}}
}

// StatusError is the error for a response with a status of 300 or higher.
type StatusError struct {
	Code int
	Text string
}

func (e StatusError) Error() string { return fmt.Sprintf("status %d: %s", e.Code, e.Text) }

// Response is the part of a response to a change that a fleet reads.
type Response struct {
	Data struct {
		ID string `json:"id"`
	} `json:"data"`
	BoardVersion int64 `json:"boardVersion"`
}

// Do sends a request and decodes the response into out, unless out is nil. A path that does not begin with /api/ is
// relative to the public API.
func (c *Client) Do(ctx context.Context, method, addr, path, key string, in, out any) error {
	var body []byte
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return err
		}
	}
	return c.Send(ctx, method, addr, path, key, body, out)
}

// Send is like Do, but the body is already JSON.
func (c *Client) Send(ctx context.Context, method, addr, path, key string, body []byte, out any) error {
	res, err := c.Stream(ctx, method, addr, path, key, bytes.NewReader(body), int64(len(body)))
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(text, out)
}

// Stream is like Send, but reads the body, which has the given size in bytes, and returns the response, whose body the
// caller must close.
func (c *Client) Stream(ctx context.Context, method, addr, path, key string, body io.Reader, size int64) (*http.Response, error) {
	if !strings.HasPrefix(path, "/api/") {
		path = "/api/public/v1" + path
	}
	header := http.Header{"Content-Type": {"application/json"}}
	if key != "" {
		header.Set("Idempotency-Key", key)
	}
	return c.Open(ctx, method, "http://"+addr+path, header, body, size)
}

// Open sends a request with the client's token and a body of the given size in bytes. It returns the response, whose
// body the caller must close. If the status is 300 or higher, Open returns a StatusError. The header can be nil.
func (c *Client) Open(ctx context.Context, method, url string, header http.Header, body io.Reader, size int64) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		return nil, err
	}
	if header != nil {
		r.Header = header
	}
	r.ContentLength = size
	r.Header.Set("Authorization", "Bearer "+c.Token)
	res, err := c.HTTP.Do(r)
	if err != nil || res.StatusCode < http.StatusMultipleChoices {
		return res, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, 300))
	if err != nil {
		return nil, err
	}
	return nil, StatusError{res.StatusCode, string(text)}
}
