package main

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

// apiClient sends requests to several servers. It is safe for concurrent use.
type apiClient struct {
	token string
	http  *http.Client
}

// newAPIClient returns a client whose requests time out after the given duration.
func newAPIClient(token string, timeout time.Duration) *apiClient {
	return &apiClient{token: token, http: &http.Client{Timeout: timeout, Transport: &http.Transport{MaxIdleConnsPerHost: 128,
		IdleConnTimeout: 20 * time.Second}}}
}

// statusError is the error for a response with a status of 300 or higher.
type statusError struct {
	code int
	text string
}

func (e statusError) Error() string { return fmt.Sprintf("status %d: %s", e.code, e.text) }

// response is the part of a response to a change that the trials read.
type response struct {
	Data struct {
		ID string `json:"id"`
	} `json:"data"`
	BoardVersion int64 `json:"boardVersion"`
}

// do sends a request and decodes the response into out, unless out is nil. A path that does not begin with /api/ is
// relative to the public API.
func (c *apiClient) do(ctx context.Context, method, addr, path, key string, in, out any) error {
	var body []byte
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return err
		}
	}
	return c.send(ctx, method, addr, path, key, body, out)
}

// send is like do, but the body is already JSON.
func (c *apiClient) send(ctx context.Context, method, addr, path, key string, body []byte, out any) error {
	if !strings.HasPrefix(path, "/api/") {
		path = "/api/public/v1" + path
	}
	r, err := http.NewRequestWithContext(ctx, method, "http://"+addr+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+c.token)
	r.Header.Set("Content-Type", "application/json")
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	res, err := c.http.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode >= http.StatusMultipleChoices {
		return statusError{res.StatusCode, string(text[:min(len(text), 300)])}
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(text, out)
}
