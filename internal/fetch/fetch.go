package fetch

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"cardwall/internal/attach"
	"cardwall/internal/board"
	"cardwall/internal/hook"
)

const (
	fileTime     = 10 * time.Minute // limit for one attempt
	idleTime     = 30 * time.Second // longest time without data
	retryPause   = 2 * time.Second  // pause before the second attempt; the next ones double it
	attempts     = 3                // maximum number of attempts for a file
	maxRedirects = 5
	headerBytes  = 32 << 10 // maximum size of the response headers in bytes
)

// Options configures a Fetcher. Guard, Files, Caller and Log are required.
type Options struct {
	Guard  *hook.Guard
	Files  *attach.Files
	Caller board.Caller   // the person on whose behalf files are stored
	Roots  *x509.CertPool // certificate authorities; nil means those of the system
	Log    *slog.Logger
	Time   time.Duration // limit for one attempt; 0 means 10 minutes
	Idle   time.Duration // longest time without data; 0 means 30 seconds
	Pause  time.Duration // pause before the second attempt; 0 means 2 seconds
}

// Fetcher downloads files. It is safe for concurrent use.
type Fetcher struct {
	o         Options
	transport *http.Transport
	client    *http.Client
}

// New returns a Fetcher. The caller must call Close.
func New(o Options) *Fetcher {
	o.Time, o.Idle, o.Pause = cmp.Or(o.Time, fileTime), cmp.Or(o.Idle, idleTime), cmp.Or(o.Pause, retryPause)
	f := &Fetcher{o: o, transport: &http.Transport{
		DialContext:            o.Guard.Dial, // and no proxy
		TLSClientConfig:        &tls.Config{RootCAs: o.Roots, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    o.Idle,
		MaxResponseHeaderBytes: headerBytes,
		DisableCompression:     true, // a small response cannot become a large file
	}}
	f.client = &http.Client{Transport: f.transport, CheckRedirect: f.redirect}
	return f
}

// Close closes idle connections.
func (f *Fetcher) Close() { f.transport.CloseIdleConnections() }

// failure is the reason why a file was not downloaded.
type failure struct {
	problem string // for the report
	again   bool   // whether another attempt may succeed
}

func (e *failure) Error() string { return e.problem }

var (
	errForbidden = &failure{"the address is not allowed", false}
	errRedirects = &failure{"too many redirects", false}
	errEncoded   = &failure{"the response is compressed", false}
	errTime      = &failure{"the response is too slow", false}
	errNetwork   = &failure{"the connection failed", true}
)

// Fetch downloads a file and stores it as a blob of an organization, for an attachment that is
// added within store.RemovedLifetime. The limit is the maximum size of the file in bytes. If
// the file cannot be downloaded or stored, Fetch returns a problem for people, such as "not
// found, HTTP 404". It returns an error only if ctx has ended.
func (f *Fetcher) Fetch(ctx context.Context, organization, address string, limit board.Bytes) (*board.StoredFile, string, error) {
	for n := 1; ; n++ {
		stored, err := f.attempt(ctx, organization, address, limit)
		if err == nil {
			return stored, "", nil
		}
		if ctx.Err() != nil {
			return nil, "", ctx.Err()
		}
		why := f.explain(ctx, err)
		if !why.again || n == attempts {
			return nil, why.problem, nil
		}
		select {
		case <-time.After(f.o.Pause << (n - 1)):
		case <-ctx.Done():
			return nil, "", ctx.Err()
		}
	}
}

// attempt downloads a file once.
func (f *Fetcher) attempt(ctx context.Context, organization, address string, limit board.Bytes) (*board.StoredFile, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, f.o.Time, errTime)
	defer cancel()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	idle := time.AfterFunc(f.o.Idle, func() { stop(errTime) })
	defer idle.Stop()
	failed := func(err error) error {
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		return err
	}
	u, err := f.o.Guard.Parse(address)
	if err != nil {
		return nil, errForbidden
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "", http.NoBody)
	if err != nil {
		return nil, err
	}
	request.URL, request.Host = u, u.Host
	request.Header.Set("User-Agent", "Service-Import/1.0")
	response, err := f.client.Do(request)
	if err != nil {
		return nil, failed(networkFailure(err))
	}
	defer func() { _ = response.Body.Close() }()
	switch {
	case response.StatusCode != http.StatusOK:
		return nil, statusFailure(response.StatusCode)
	case response.Header.Get("Content-Encoding") != "":
		return nil, errEncoded
	case response.ContentLength > int64(limit):
		return nil, tooLarge(limit)
	}
	body := &bodyReader{r: response.Body, limit: limit, idle: idle, time: f.o.Idle}
	stored, err := f.o.Files.Receive(ctx, f.o.Caller, organization, limit, body)
	if body.err != nil { // rather than the storage's error that follows from it
		err = body.err
	}
	if err != nil {
		return nil, failed(err)
	}
	return stored, nil
}

// redirect decides whether to follow a redirect. It sends no Referer.
func (f *Fetcher) redirect(next *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return errRedirects
	}
	next.URL.Fragment = ""
	u, err := f.o.Guard.Parse(next.URL.String())
	if err != nil {
		return errForbidden
	}
	next.URL, next.Host = u, u.Host
	next.Header.Del("Referer")
	return nil
}

// networkFailure returns the failure for an error of an HTTP client.
func networkFailure(err error) error {
	var (
		known   *failure
		refused *hook.Refused
	)
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &refused):
		return errForbidden
	}
	return errNetwork
}

// statusFailure returns the failure for an HTTP status.
func statusFailure(status int) *failure {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return &failure{fmt.Sprintf("not public, HTTP %d", status), false}
	case http.StatusNotFound, http.StatusGone:
		return &failure{fmt.Sprintf("not found, HTTP %d", status), false}
	}
	return &failure{fmt.Sprintf("HTTP %d", status), status >= 500 || status == http.StatusTooManyRequests}
}

// explain returns the failure for an error of an attempt.
func (f *Fetcher) explain(ctx context.Context, err error) *failure {
	var known *failure
	if errors.As(err, &known) {
		return known
	}
	if board.IsCode(err, board.CodePlanLimit) {
		return &failure{"no storage is left", false}
	}
	f.o.Log.WarnContext(ctx, "downloaded file not stored", "error", err)
	return &failure{"the file could not be stored", true}
}

func tooLarge(limit board.Bytes) *failure {
	return &failure{fmt.Sprintf("larger than %s", limit), false}
}

// bodyReader reads the body of a response. It restarts a timer when data arrives, and keeps
// the reason why the body cannot be read to its end.
type bodyReader struct {
	r     io.Reader
	limit board.Bytes // maximum size of the body
	read  board.Bytes
	idle  *time.Timer
	time  time.Duration
	err   error
}

func (b *bodyReader) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if n > 0 {
		b.idle.Reset(b.time)
	}
	b.read += board.Bytes(n)
	switch {
	case b.read > b.limit:
		b.err = tooLarge(b.limit)
		return 0, b.err
	case err != nil && err != io.EOF:
		b.err = errNetwork
	}
	return n, err
}
