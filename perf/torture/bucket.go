package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"time"

	"cardwall/perf/process"
)

// bucketKey is the access key and the secret of the S3 server.
const bucketKey = "cardwall-torture"

// bucketFault is a way in which an S3 server fails.
type bucketFault int32

const (
	healthy   bucketFault = iota
	refusing              // responds with status 500
	forgetful             // does what was requested, but responds with status 500
	slowly                // waits up to a second before it does what was requested
	cutting               // closes connections in the middle of requests and responses
	gone                  // cannot be reached
)

// bucketFaults returns all faults.
func bucketFaults() []bucketFault { return []bucketFault{refusing, forgetful, slowly, cutting, gone} }

// bucket is a bucket on an S3 server behind a proxy that can fail.
type bucket struct {
	root    string // folder of the buckets
	backend string // address of the S3 server
	log     string
	front   string // address of the proxy
	fault   atomic.Int32
	forward *httputil.ReverseProxy
	proxy   *http.Server
}

// newBucket starts an S3 server, which stores objects in a folder.
func (t *trialRun) newBucket() (*bucket, error) {
	b := &bucket{root: filepath.Join(t.dir, "buckets"), log: filepath.Join(t.dir, "s3.log")}
	if err := os.MkdirAll(filepath.Join(b.root, "files"), 0o700); err != nil {
		return nil, err
	}
	var err error
	if b.backend, err = process.FreeAddress(); err != nil {
		return nil, err
	}
	if b.front, err = process.FreeAddress(); err != nil {
		return nil, err
	}
	b.forward = httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: b.backend})
	b.forward.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	b.forward.ErrorHandler = func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }
	return b, b.start(t)
}

// address returns the address for CARDWALL_FILES.
func (b *bucket) address() string {
	return "s3://files/cards?region=us-east-1&endpoint=http://" + b.front
}

// folder returns the folder in which the S3 server stores the files.
func (b *bucket) folder() string { return filepath.Join(b.root, "files", "cards") }

// start starts the S3 server and the proxy.
func (b *bucket) start(t *trialRun) error {
	cmd := exec.Command(filepath.Join("tools", "bin", "versitygw"), "--access", bucketKey, "--secret", bucketKey, "--port", b.backend,
		"--quiet", "posix", b.root)
	p, err := process.Start(cmd, b.log)
	if err != nil {
		return fmt.Errorf("start the S3 server (run make tools/bin/versitygw): %w", err)
	}
	t.cleanup(func() error {
		p.Kill()
		return nil
	})
	if err := t.waitUntil("the S3 server does not listen", 10*time.Second, func() bool {
		conn, err := net.Dial("tcp", b.backend)
		return p.Ended() || err == nil && conn.Close() == nil
	}); err != nil {
		return err
	}
	if p.Ended() {
		return fmt.Errorf("the S3 server ended:\n%s", process.LogTail(b.log))
	}
	t.cleanup(b.disconnect)
	return b.connect()
}

// connect starts the proxy.
func (b *bucket) connect() error {
	l, err := net.Listen("tcp", b.front)
	if err != nil {
		return fmt.Errorf("start the proxy of the S3 server: %w", err)
	}
	b.proxy = &http.Server{Handler: b, ReadHeaderTimeout: time.Minute}
	go func(s *http.Server) { _ = s.Serve(l) }(b.proxy)
	return nil
}

// disconnect stops the proxy and closes its connections. The S3 server keeps running, because what it loses when it is
// killed would be its own fault.
func (b *bucket) disconnect() error { return b.proxy.Close() }

// fail begins a fault.
func (b *bucket) fail(f bucketFault) error {
	b.fault.Store(int32(f))
	if f == gone {
		return b.disconnect()
	}
	return nil
}

// heal ends the fault.
func (b *bucket) heal() error {
	if bucketFault(b.fault.Swap(int32(healthy))) == gone {
		return b.connect()
	}
	return nil
}

// ServeHTTP forwards a request to the S3 server, unless it fails.
func (b *bucket) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch bucketFault(b.fault.Load()) {
	case refusing:
		refuse(w)
		return
	case forgetful:
		b.forward.ServeHTTP(&discarded{http.Header{}}, r)
		refuse(w)
		return
	case slowly:
		time.Sleep(time.Duration(rand.IntN(1000)) * time.Millisecond)
	case cutting:
		left := rand.IntN(2 << 20)
		if r.ContentLength <= 0 {
			left = rand.IntN(2) * rand.IntN(64<<10) // in half of the cases, the request is not forwarded
		}
		if left == 0 {
			panic(http.ErrAbortHandler)
		}
		r.Body = &cutBody{r.Body, left}
		w = &cutResponse{w, left}
	}
	b.forward.ServeHTTP(w, r)
}

// refuse responds like an S3 server with an internal error.
func refuse(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(http.StatusInternalServerError)
	_, _ = io.WriteString(w, "<Error><Code>InternalError</Code><Message>We encountered an internal error.</Message></Error>")
}

// discarded is a response that nobody gets.
type discarded struct{ header http.Header }

func (d *discarded) Header() http.Header         { return d.header }
func (d *discarded) Write(p []byte) (int, error) { return len(p), nil }
func (d *discarded) WriteHeader(int)             {}

var errCut = errors.New("the connection was cut")

// cutBody is the body of a request that ends with an error after some bytes.
type cutBody struct {
	io.ReadCloser
	left int
}

func (c *cutBody) Read(p []byte) (int, error) {
	if c.left == 0 {
		return 0, errCut
	}
	n, err := c.ReadCloser.Read(p[:min(len(p), c.left)])
	c.left -= n
	return n, err
}

// cutResponse is a response whose connection is closed after some bytes of the body.
type cutResponse struct {
	http.ResponseWriter
	left int
}

func (c *cutResponse) Write(p []byte) (int, error) {
	if len(p) > c.left {
		panic(http.ErrAbortHandler)
	}
	c.left -= len(p)
	return c.ResponseWriter.Write(p)
}
