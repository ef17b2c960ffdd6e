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

// healthCommand is for who starts and watches servers, such as a container's
// engine, where there is no other program to ask with.
type healthCommand struct {
	Addr    string        `default:"127.0.0.1:8080" placeholder:"HOST:PORT" help:"Address that the server listens on; 127.0.0.1:8080 when absent."`
	Live    bool          `help:"Ask whether the process is there (/healthz), for those who restart it, and not whether it can serve."`
	Timeout time.Duration `default:"3s" placeholder:"TIME" help:"How long it may take to answer; 3s when absent."`
}

func (healthCommand) Help() string {
	return "Asks /readyz, and exits non-zero when the server does not answer or cannot serve yet.\n\nExamples:\n  cardwall health\n  cardwall health --addr :8080\n  cardwall health --live"
}

func (c healthCommand) Run(ctx context.Context, g *globals) error {
	host, port, err := net.SplitHostPort(c.Addr)
	if err != nil {
		return errors.New("--addr must be an address such as 127.0.0.1:8080")
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() { // it listens on all; ask by this machine's own
		host = "127.0.0.1"
		if ip != nil && ip.To4() == nil {
			host = "::1"
		}
	}
	path, said := "/readyz", "ready"
	if c.Live {
		path, said = "/healthz", "alive"
	}
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(host, port)+path, nil)
	if err != nil {
		return errors.New("--addr must be an address such as 127.0.0.1:8080")
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // no proxy
	answer, err := client.Do(request)
	if err != nil {
		var whole *url.Error
		if errors.As(err, &whole) {
			err = whole.Err
		}
		return fmt.Errorf("the server does not answer: %w", err)
	}
	if err := answer.Body.Close(); err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("the server is not %s: %s answered %d", said, path, answer.StatusCode)
	}
	g.print("%s", said)
	return nil
}
