package hook

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/store"
	"cardwall/internal/trace"
)

const (
	headerTimeout = 10 * time.Second // time limit for the response headers
	bodyTimeout   = 2 * time.Second  // additional time limit for the response body
	maxBodyRead   = 16 << 10         // bytes read from the body, so that the connection can be reused
	maxBodyKept   = 1 << 10          // bytes of the body that the log stores
	headerBytes   = 32 << 10         // maximum size of the response headers in bytes
	userAgent     = "Service-Webhooks/1.0"
)

// attempt is one attempt to send a delivery, from the queue to the log.
type attempt struct {
	endpoint *endpoint
	delivery store.Dispatch
	target   store.Target
	began    time.Time     // when it left its queue
	at       board.Instant // when it started, by the service's clock
	marked   bool          // whether the log already shows it as delivering
}

// result is the result of an attempt.
type result struct {
	attempt *attempt
	verdict verdict
	status  int           // HTTP status; 0 for no response
	reason  string        // explanation for the log
	body    string        // start of the response body
	later   time.Duration // from Retry-After; 0 for none
	took    time.Duration
}

// verdict classifies the result of an attempt.
type verdict int

const (
	accepted    verdict = iota // 2xx
	throttled                  // 429
	unreachable                // no valid response in time, or 5xx
	refused                    // a response that a retry would not change
	gone                       // 410
	forbidden                  // rejected by the guard, or the address or secret cannot be decrypted
	skipped                    // must no longer be sent
	lost                       // skipped because the owner can no longer manage the webhook
	deleted                    // the webhook was deleted
	waiting                    // another server has recorded a pause for the endpoint
	interrupted                // the check failed, or this server is shutting down
)

// String returns the name of the verdict.
func (v verdict) String() string {
	return [...]string{"accepted", "throttled", "unreachable", "refused", "gone", "forbidden", "skipped", "lost", "deleted",
		"waiting", "interrupted"}[v]
}

// newTransport returns the HTTP transport of all deliveries. It uses HTTP/1.1,
// persistent connections and no proxy. It makes all connections with dial, which must
// check the address.
func newTransport(dial func(ctx context.Context, network, address string) (net.Conn, error), roots *x509.CertPool) *http.Transport {
	return &http.Transport{
		DialContext:            dial,
		TLSClientConfig:        &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    headerTimeout + bodyTimeout, // for a dial that continues after its attempt has ended
		MaxIdleConns:           4 * maxAttempts,
		MaxIdleConnsPerHost:    64 * maxEndpointAttempts, // many endpoints may share a host
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: headerBytes,
		DisableCompression:     true,
		WriteBufferSize:        2 << 10,
		ReadBufferSize:         2 << 10,
	}
}

// traced calls run in a span of a new trace, which links to the change that caused the
// delivery. It does not send the trace to the receiver. It does not record the
// receiver's URL, which may contain a secret.
func (e *Engine) traced(ctx context.Context, a *attempt) result {
	ctx, span := e.o.Traces.Start(ctx, http.MethodPost, trace.Client, a.delivery.TraceLink)
	r := e.run(ctx, a)
	if span == nil {
		return r
	}
	span.Text("http.request.method", http.MethodPost)
	span.Text("cardwall.delivery.id", a.delivery.ID)
	span.Text("cardwall.event.type", string(a.delivery.Kind))
	span.Text("cardwall.webhook.id", a.delivery.WebhookID)
	if a.delivery.Attempts > 0 {
		span.Number("http.request.resend_count", int64(a.delivery.Attempts))
	}
	if r.status != 0 {
		span.Number("http.response.status_code", int64(r.status))
	}
	if r.verdict != accepted {
		span.Fail(r.verdict.String())
	}
	span.End()
	return r
}

// run makes the attempt. It always ends within headerTimeout plus bodyTimeout, and
// reads at most maxBodyRead bytes of the response.
func (e *Engine) run(ctx context.Context, a *attempt) result {
	begun, now := time.Now(), e.o.DB.Now()
	r := result{attempt: a}
	d := &a.delivery
	address, err := e.addresses.parse(e.o.Guard, a.target.Address) // the rules may have changed since the URL was saved
	if err != nil {
		r.verdict, r.reason = forbidden, "refused: the address is not allowed"
		return r
	}
	signed, err := Sign(a.target.Secrets, d.ID, now.Unix(), d.Body)
	if err != nil {
		r.verdict, r.reason = refused, "the signing secret cannot be used"
		return r
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "", bytes.NewReader(d.Body))
	if err != nil {
		r.verdict, r.reason = refused, "the request cannot be created"
		return r
	}
	request.URL, request.Host = address, address.Host
	request.Header = http.Header{
		"Content-Type": {"application/json"},
		"User-Agent":   {userAgent},
		// With a nil value the header is not sent, but net/http may retry on a
		// new connection if the receiver has just closed the old one. That is
		// safe, because repeated deliveries have the same id.
		"Idempotency-Key": nil,
		// Lower-case names, as in Standard Webhooks.
		HeaderID: {d.ID}, HeaderTimestamp: {strconv.FormatInt(now.Unix(), 10)}, HeaderSignature: {signed},
	}
	for _, h := range a.target.Headers {
		request.Header[h.Name] = []string{h.Value}
	}
	deadline := time.AfterFunc(headerTimeout, func() { cancel(context.DeadlineExceeded) })
	defer deadline.Stop()
	response, err := e.transport.RoundTrip(request)
	r.took = time.Since(begun)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		r.verdict, r.reason = explain(err)
		return r
	}
	deadline.Reset(bodyTimeout)
	if response.StatusCode == http.StatusSwitchingProtocols {
		_ = response.Body.Close() // now the raw connection, whose reads have no deadline
	} else {
		r.body = readBody(response.Body)
	}
	r.status, r.later = response.StatusCode, retryAfter(response.Header.Get("Retry-After"), now)
	r.verdict, r.reason = verdictOf(response.StatusCode)
	return r
}

// addressBook caches URLs that the guard has parsed. Without DNS, the guard's
// decision about a URL does not change while a server runs.
type addressBook struct {
	mu    sync.Mutex
	known map[string]*url.URL
}

const maxAddresses = 4096

// parse is like Guard.Parse, but cached. The caller must not modify the URL.
func (b *addressBook) parse(g *Guard, address string) (*url.URL, error) {
	b.mu.Lock()
	u := b.known[address]
	b.mu.Unlock()
	if u != nil {
		return u, nil
	}
	u, err := g.Parse(address)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.known == nil || len(b.known) >= maxAddresses {
		b.known = map[string]*url.URL{}
	}
	b.known[address] = u
	return u, nil
}

// readBody returns the start of a response body. It reads at most maxBodyRead bytes.
func readBody(body io.ReadCloser) string {
	defer func() { _ = body.Close() }() // also closes the connection if there is unread data
	kept := make([]byte, maxBodyKept)
	n, err := io.ReadFull(body, kept)
	if err == nil {
		_, _ = io.CopyN(io.Discard, body, maxBodyRead-maxBodyKept) // only to reuse the connection
	}
	return strings.ToValidUTF8(strings.ReplaceAll(string(kept[:n]), "\x00", ""), "\uFFFD")
}

// verdictOf returns the verdict for an HTTP status and an explanation for the log.
func verdictOf(status int) (verdict, string) {
	text := "HTTP " + strconv.Itoa(status)
	switch {
	case status >= 200 && status < 300:
		return accepted, text
	case status >= 300 && status < 400:
		return refused, text + ": redirects are not followed"
	case status == http.StatusGone:
		return gone, text + ": the receiver wants no more deliveries"
	case status == http.StatusTooManyRequests:
		return throttled, text
	case status >= 500:
		return unreachable, text
	}
	return refused, text
}

// explain returns the verdict for an error and an explanation for the delivery log. The
// explanation contains nothing that the receiver or a resolver sent.
func explain(err error) (verdict, string) {
	var (
		rule        *Refused
		dns         *net.DNSError
		unknown     x509.UnknownAuthorityError
		name        x509.HostnameError
		invalid     x509.CertificateInvalidError
		certificate *tls.CertificateVerificationError
		record      tls.RecordHeaderError
		network     *net.OpError
	)
	switch {
	case errors.Is(err, errStopping):
		return interrupted, "the server stopped"
	case errors.As(err, &rule):
		return forbidden, "refused: " + rule.Reason
	case errors.Is(err, context.DeadlineExceeded):
		return unreachable, fmt.Sprintf("timeout: no response within %d s", headerTimeout/time.Second)
	case errors.As(err, &dns) && dns.IsNotFound:
		return unreachable, "the host's name does not resolve"
	case errors.As(err, &dns):
		return unreachable, "the host's name could not be resolved"
	case errors.Is(err, syscall.ECONNREFUSED):
		return unreachable, "connection refused"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		strings.HasSuffix(err.Error(), "server closed idle connection"): // net/http has no error value for it
		return unreachable, "the connection was closed before a response"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return unreachable, "the host cannot be reached"
	case errors.As(err, &unknown):
		return unreachable, "TLS: the certificate was issued by an unknown authority"
	case errors.As(err, &name):
		return unreachable, "TLS: the certificate is for a different host name"
	case errors.As(err, &invalid):
		return unreachable, "TLS: the certificate has expired, is not valid yet, or is not a server certificate"
	case errors.As(err, &certificate), errors.As(err, &record),
		errors.As(err, &network) && network.Op == "remote error": // a TLS alert
		return unreachable, "TLS: the handshake failed"
	}
	if strings.Contains(err.Error(), "server response headers exceeded") { // net/http has no error value for it
		return unreachable, fmt.Sprintf("the response headers are larger than %d KiB", headerBytes>>10)
	}
	return unreachable, "the response is not valid HTTP"
}

// retryAfter parses a Retry-After header (RFC 9110, 10.2.3). It returns 0 if the header is
// missing, invalid or in the past.
func retryAfter(text string, now time.Time) time.Duration {
	if text == "" {
		return 0
	}
	if seconds, err := strconv.ParseInt(text, 10, 32); err == nil || errors.Is(err, strconv.ErrRange) {
		// ParseInt clamps a value out of range to the largest or smallest one.
		return max(0, time.Duration(seconds)*time.Second)
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// DefaultPauses returns the pauses between the nine attempts: about a day in
// total.
func DefaultPauses() []time.Duration {
	return []time.Duration{
		30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute, time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour,
	}
}

// next returns the time of the next attempt of a delivery whose previous attempt ended
// now. The wait is the pause for that attempt plus a random 0% to 10%. Retry-After in a 429
// or 503 response can extend the wait, at most to the length of the following pause. next
// returns false after the last attempt.
func (e *Engine) next(now time.Time, attempts int, r *result) (board.Instant, bool) {
	if attempts > len(e.o.Pauses) {
		return 0, false
	}
	pause := e.o.Pauses[attempts-1]
	wait := pause + time.Duration(e.o.Chance()*float64(pause)/10)
	if (r.status == http.StatusTooManyRequests || r.status == http.StatusServiceUnavailable) && attempts < len(e.o.Pauses) {
		wait = max(wait, min(r.later, e.o.Pauses[attempts]))
	}
	return board.InstantOf(now.Add(wait + time.Millisecond - 1)), true // never earlier
}

// outcome returns the log entry for a result.
func (e *Engine) outcome(r *result) store.Outcome {
	d := r.attempt.delivery
	o := store.Outcome{Dispatch: d, PreviousAttempts: d.Attempts, Reason: r.reason, HTTPStatus: r.status}
	if r.verdict == skipped || r.verdict == lost {
		o.Status, o.Lost = board.DeliverySkipped, r.verdict == lost
		return o
	}
	o.Attempts++
	entry := board.DeliveryAttempt{At: r.attempt.at, Duration: r.took.Milliseconds(), Outcome: r.reason, Answer: r.body}
	if r.status != 0 {
		entry.HTTPStatus = &r.status
	}
	o.Log = append(o.Log[max(0, len(o.Log)-board.AttemptsKept+1):len(o.Log):len(o.Log)], entry)
	test := d.Kind == board.KindWebhookTest
	switch r.verdict {
	case accepted:
		o.Status, o.Resets = board.DeliveryDelivered, r.attempt.endpoint.failing
	case throttled, unreachable:
		next, more := e.next(e.o.DB.Now(), o.Attempts, r)
		switch {
		case test: // a person is watching and can try again
			o.Status = board.DeliveryFailed
		case more:
			o.Status, o.Next = board.DeliveryRetry, next
		default:
			o.Status, o.Counts = board.DeliveryGaveUp, r.verdict != throttled
			o.Reason += "; that was the last attempt"
		}
	default:
		o.Status, o.Counts, o.Gone = board.DeliveryFailed, !test, r.verdict == gone
	}
	return o
}
