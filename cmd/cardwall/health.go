package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"
)

// healthCommand is a health check for container engines and supervisors. The
// image contains no other HTTP client.
type healthCommand struct {
	Addr    string        `default:"127.0.0.1:8080" placeholder:"HOST:PORT" help:"Address the server listens on (default ${default})."`
	Live    bool          `help:"Only check that the process is alive (/healthz), like a liveness probe."`
	Timeout time.Duration `default:"3s" placeholder:"TIME" help:"Longest wait for the response (default ${default})."`
}

func (healthCommand) Help() string {
	return "Requests /readyz, or /healthz with --live. Exits with a non-zero status unless the server responds with status 200.\n\n" +
		"Examples:\n" +
		"  cardwall health\n" +
		"  cardwall health --addr :8080\n" +
		"  cardwall health --live"
}

func (c healthCommand) Run(ctx context.Context, g *globals) error {
	host, port, err := net.SplitHostPort(c.Addr)
	if err != nil {
		return errors.New("--addr must be an address such as 127.0.0.1:8080")
	}
	// A server that listens on all addresses is reachable at the loopback address.
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
		if ip != nil && ip.To4() == nil {
			host = "::1"
		}
	}
	path, state := "/readyz", "ready"
	if c.Live {
		path, state = "/healthz", "alive"
	}
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(host, port)+path, nil)
	if err != nil {
		return errors.New("--addr must be an address such as 127.0.0.1:8080")
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // no proxy
	response, err := client.Do(request)
	if err != nil {
		var urlErr *url.Error
		if errors.As(err, &urlErr) {
			err = urlErr.Err
		}
		return fmt.Errorf("the server does not respond: %w", err)
	}
	if err := response.Body.Close(); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the server is not %s: %s returned status %d", state, path, response.StatusCode)
	}
	g.print("%s", state)
	return nil
}
