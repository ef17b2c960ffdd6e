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
	answerTime  = 10 * time.Second // until the headers of an answer are there
	bodyTime    = 2 * time.Second  // for reading its body after that
	answerRead  = 16 << 10         // of the body at most, so that the connection can be used again
	answerKept  = 1 << 10          // of it for the log
	headerBytes = 32 << 10         // of the answer's headers at most
	userAgent   = "Service-Webhooks/1.0"
)

// attempt is one try to deliver, from the queue to the log.
type attempt struct {
	endpoint *endpoint
	delivery store.Dispatch
	target   store.Target
	began    time.Time     // when it left its queue
	at       board.Instant // when it was made, by the service's clock
	marked   bool          // its taking long was noted in the log
}

// result is what came of an attempt.
type result struct {
	attempt *attempt
	verdict verdict
	status  int    // of the answer; 0 when none came
	reason  string // in words
	answer  string // the beginning of its body
	later   time.Duration
	took    time.Duration
}

// verdict is what an answer, or its absence, means.
type verdict int

const (
	accepted    verdict = iota // 2xx
	throttled                  // 429
	unreachable                // no answer in time, or 5xx
	refused                    // an answer that a retry would not change
	gone                       // 410
	forbidden                  // refused by the address rule
	skipped                    // not to be sent any more
	lost                       // skipped, because the owner can no longer manage the webhook
	deleted                    // the webhook is gone
	waiting                    // another server held the queue until later
	interrupted                // this server stops
)

// String is the verdict in one word.
func (v verdict) String() string {
	return [...]string{"accepted", "throttled", "unreachable", "refused", "gone", "forbidden", "skipped", "lost", "deleted", "waiting", "interrupted"}[v]
}

// newTransport makes the client of all deliveries: HTTP/1.1, connections kept,
// no proxy, and each connection made by dial, which guards the address.
func newTransport(dial func(ctx context.Context, network, address string) (net.Conn, error), roots *x509.CertPool) *http.Transport {
	return &http.Transport{
		DialContext:            dial,
		TLSClientConfig:        &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    answerTime + bodyTime, // of a dial that goes on after its attempt has ended
		MaxIdleConns:           4 * attemptsAtOnce,
		MaxIdleConnsPerHost:    64 * endpointAtOnce, // many endpoints may share a host
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: headerBytes,
		DisableCompression:     true,
		WriteBufferSize:        2 << 10,
		ReadBufferSize:         2 << 10,
	}
}

// traced is run under a span, in a trace of its own that points to the change
// which caused the delivery. The receiver is not told of the trace, and the trace
// not of the receiver: its address may hold a secret.
func (e *Engine) traced(ctx context.Context, a *attempt) result {
	ctx, span := e.o.Traces.Start(ctx, http.MethodPost, trace.Client, a.delivery.Because)
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

// run makes the attempt. It ends within answerTime and bodyTime, whatever the
// receiver does, and reads no more than answerRead of its answer.
func (e *Engine) run(ctx context.Context, a *attempt) result {
	begun, now := time.Now(), e.o.DB.Now()
	r := result{attempt: a}
	d := &a.delivery
	address, err := e.addresses.parse(e.o.Guard, a.target.Address) // what is allowed may have changed since it was saved
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
		r.verdict, r.reason = refused, "the request cannot be made"
		return r
	}
	request.URL, request.Host = address, address.Host
	request.Header = http.Header{
		"Content-Type": {"application/json"},
		"User-Agent":   {userAgent},
		// Without a value it is not sent, but lets a connection that the receiver
		// closed just now be replaced by another one: repeats have the same id.
		"Idempotency-Key": nil,
		// In small letters, as Standard Webhooks writes them.
		HeaderID: {d.ID}, HeaderTimestamp: {strconv.FormatInt(now.Unix(), 10)}, HeaderSignature: {signed},
	}
	deadline := time.AfterFunc(answerTime, func() { cancel(context.DeadlineExceeded) })
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
	deadline.Reset(bodyTime)
	if response.StatusCode == http.StatusSwitchingProtocols {
		_ = response.Body.Close() // it is the connection itself now, of which no deadline ends the reading
	} else {
		r.answer = readAnswer(response.Body)
	}
	r.status, r.later = response.StatusCode, retryAfter(response.Header.Get("Retry-After"), now)
	r.verdict, r.reason = judge(response.StatusCode)
	return r
}

// addressBook remembers addresses that the guard has read. What it says without
// asking DNS does not change while a server runs.
type addressBook struct {
	mu    sync.Mutex
	known map[string]*url.URL
}

const addressesKept = 4096

// parse is Guard.Parse; who gets the address must not change it.
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
	if b.known == nil || len(b.known) >= addressesKept {
		b.known = map[string]*url.URL{}
	}
	b.known[address] = u
	return u, nil
}

// readAnswer reads what is kept of an answer, and a little more.
func readAnswer(body io.ReadCloser) string {
	defer func() { _ = body.Close() }() // what is not read is given up with its connection
	kept := make([]byte, answerKept)
	n, err := io.ReadFull(body, kept)
	if err == nil {
		_, _ = io.CopyN(io.Discard, body, answerRead-answerKept) // only to use the connection again
	}
	return strings.ToValidUTF8(strings.ReplaceAll(string(kept[:n]), "\x00", ""), "\uFFFD")
}

// judge says what a status means.
func judge(status int) (verdict, string) {
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

// explain says what an error means that came instead of an answer. Its words
// are for the log, so they hold nothing that the receiver or a resolver made up.
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
		return unreachable, fmt.Sprintf("timeout: no answer within %d s", answerTime/time.Second)
	case errors.As(err, &dns) && dns.IsNotFound:
		return unreachable, "the host's name does not resolve"
	case errors.As(err, &dns):
		return unreachable, "the host's name could not be resolved"
	case errors.Is(err, syscall.ECONNREFUSED):
		return unreachable, "connection refused"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		strings.HasSuffix(err.Error(), "server closed idle connection"): // net/http has no name for it
		return unreachable, "the connection was closed before an answer"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return unreachable, "the host cannot be reached"
	case errors.As(err, &unknown):
		return unreachable, "TLS: the certificate is by an unknown authority"
	case errors.As(err, &name):
		return unreachable, "TLS: the certificate is for another name"
	case errors.As(err, &invalid):
		return unreachable, "TLS: the certificate has expired, or is not good for a server"
	case errors.As(err, &certificate), errors.As(err, &record), errors.As(err, &network) && network.Op == "remote error": // a TLS alert
		return unreachable, "TLS: the handshake failed"
	}
	if strings.Contains(err.Error(), "server response headers exceeded") { // net/http has no name for it
		return unreachable, fmt.Sprintf("the headers of the answer are larger than %d KiB", headerBytes>>10)
	}
	return unreachable, "no answer that is HTTP"
}

// retryAfter reads a header Retry-After (RFC 9110, 10.2.3); 0 for none.
func retryAfter(text string, now time.Time) time.Duration {
	if text == "" {
		return 0
	}
	if seconds, err := strconv.ParseInt(text, 10, 32); err == nil || errors.Is(err, strconv.ErrRange) { // then it is the most or the least
		return max(0, time.Duration(seconds)*time.Second)
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// DefaultPauses are the pauses between the nine attempts: about a day in all.
func DefaultPauses() []time.Duration {
	return []time.Duration{
		30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute, time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour,
	}
}

// next is when a delivery is attempted again after so many attempts that ended
// now: its pause, and up to a tenth more; false when it was the last. An answer
// 429 or 503 may move it later, at most to the next pause.
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

// outcome is what the log says of a result.
func (e *Engine) outcome(r *result) store.Outcome {
	d := r.attempt.delivery
	o := store.Outcome{Dispatch: d, Was: d.Attempts, Reason: r.reason, HTTPStatus: r.status}
	if r.verdict == skipped || r.verdict == lost {
		o.Status, o.Lost = board.DeliverySkipped, r.verdict == lost
		return o
	}
	o.Attempts++
	entry := board.DeliveryAttempt{At: r.attempt.at, Duration: r.took.Milliseconds(), Outcome: r.reason, Answer: r.answer}
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
		case test: // a person looks at it, and tries again
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
