// Package greedy does the work of a neighbor who uses a server as much as the plan allows: searches that read many
// cards, exports that are read slowly, uploads that hardly proceed, and jobs.
package greedy

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"

	"cardwall/perf/fleet"
)

// Search searches for a phrase. A rare phrase made of frequent words makes the server read many cards.
func Search(ctx context.Context, c *fleet.Client, addr, phrase string) error {
	return c.Do(ctx, "GET", addr, "/search?q="+url.QueryEscape(`"`+phrase+`"`), "", nil, nil)
}

// Export exports a workspace and reads the response at rate bytes per second, until the response or ctx ends. It returns
// the number of bytes read.
func Export(ctx context.Context, c *fleet.Client, addr, workspace string, rate int64) (n int64, err error) {
	res, err := c.Stream(ctx, "GET", addr, "/workspaces/"+workspace+"/export", "", nil, 0)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	const reads = 10 // per second
	for ctx.Err() == nil {
		m, err := io.CopyN(io.Discard, res.Body, rate/reads)
		n += m
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, fmt.Errorf("read export: %w", err)
		}
		_ = fleet.Sleep(ctx, time.Second/reads) // the loop ends with ctx
	}
	return n, nil
}

// ImportPath returns the path for imports into a workspace.
func ImportPath(workspace string) string {
	return "/api/app/v1/workspaces/" + workspace + "/import?format=cardwall"
}

// UploadSlowly sends one byte of an import per interval until the server responds or ctx ends. It returns the status.
func UploadSlowly(ctx context.Context, addr, token, workspace string, interval time.Duration) (status int, err error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	if _, err := fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"+
		"Content-Length: %d\r\n\r\n", ImportPath(workspace), addr, token, 10<<20); err != nil {
		return 0, err
	}
	in := bufio.NewReader(conn)
	for ctx.Err() == nil {
		if err := conn.SetReadDeadline(time.Now().Add(interval)); err != nil {
			return 0, err
		}
		stop := context.AfterFunc(ctx, func() { conn.Close() })
		line, err := in.ReadString('\n')
		stop()
		if err == nil {
			_, err = fmt.Sscanf(line, "HTTP/1.1 %d", &status)
			return status, err
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return 0, err
		}
		if _, err := conn.Write([]byte(" ")); err != nil {
			return 0, err
		}
	}
	return 0, nil
}

// Job is the part of a job that a neighbor reads.
type Job struct {
	ID, Kind, State string
	Done, Total     int
	BoardIDs        []string
	Error           *struct{ Message string }
}

// Ended reports whether the job has ended.
func (j Job) Ended() bool { return j.State == "done" || j.State == "failed" || j.State == "cancelled" }

// Start starts a job with a request. It returns nil if the server has done the work without a job.
func Start(ctx context.Context, c *fleet.Client, addr, path, key string, body io.Reader, size int64) (*Job, error) {
	res, err := c.Stream(ctx, "POST", addr, path, key, body, size)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusAccepted {
		_, err := io.Copy(io.Discard, res.Body)
		return nil, err
	}
	var r struct{ Data Job }
	err = json.NewDecoder(res.Body).Decode(&r)
	return &r.Data, err
}

// Refresh loads the present state of a job.
func (j *Job) Refresh(ctx context.Context, c *fleet.Client, addr string) error {
	var r struct{ Data Job }
	if err := c.Do(ctx, "GET", addr, "/jobs/"+j.ID, "", nil, &r); err != nil {
		return err
	}
	*j = r.Data
	return nil
}
