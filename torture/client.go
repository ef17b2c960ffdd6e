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

// client speaks to servers by their addresses.
type client struct {
	token string
	http  *http.Client
}

// newClient gives a request so long. It holds as many connections as there are writers.
func newClient(token string, patience time.Duration) *client {
	return &client{token: token, http: &http.Client{Timeout: patience, Transport: &http.Transport{MaxIdleConnsPerHost: 128,
		IdleConnTimeout: 20 * time.Second}}}
}

// statusError is an answer that is no success.
type statusError struct {
	code int
	text string
}

func (e statusError) Error() string { return fmt.Sprintf("status %d: %s", e.code, e.text) }

// answer is what is read of the answer to a change.
type answer struct {
	Data struct {
		ID string `json:"id"`
	} `json:"data"`
	BoardVersion int64 `json:"boardVersion"`
}

// do sends a request and reads the answer into out, unless that is nil.
func (c *client) do(ctx context.Context, method, addr, path, key string, in, out any) error {
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(text)
	}
	if !strings.HasPrefix(path, "/api/") {
		path = "/api/public/v1" + path
	}
	r, err := http.NewRequestWithContext(ctx, method, "http://"+addr+path, body)
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
	defer func() { _ = res.Body.Close() }() // only read
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
