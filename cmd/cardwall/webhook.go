package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf16"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cardwall/internal/hook"
)

type webhookCommand struct {
	Listen webhookListenCommand `cmd:"" help:"Receive deliveries and print them."`
	Verify webhookVerifyCommand `cmd:"" help:"Verify the signature of a delivery."`
}

const (
	maxBodySize      = 1 << 20 // bytes
	maxHeaderShown   = 120     // bytes; longer ids and event kinds are truncated
	maxNesting       = 64      // deeper JSON is printed as is, because indentation would multiply its size
	maxRememberedIDs = 10_000  // number of delivery ids to remember, to detect duplicates
	maxDelay         = 10 * time.Minute
)

// webhookSecrets holds the signing secrets. A delivery must be signed with one of
// them. Without secrets, the listen command does not check signatures.
type webhookSecrets struct {
	Secret []string `env:"CARDWALL_WEBHOOK_SECRET" placeholder:"whsec_…" help:"${help_webhook_secret}"`
}

// validate returns an error if a secret is malformed. The error does not contain
// the secret.
func (s webhookSecrets) validate() error {
	if _, err := hook.Sign(s.Secret, "", 0, nil); err != nil {
		return fmt.Errorf("--secret: %w", err)
	}
	return nil
}

// check verifies that a delivery is signed with one of the secrets and that its
// timestamp is close to now.
func (s webhookSecrets) check(header http.Header, body []byte, now time.Time) (err error) {
	for _, name := range []string{hook.HeaderID, hook.HeaderTimestamp, hook.HeaderSignature} {
		if header.Get(name) == "" {
			return errors.New(name + " is missing")
		}
	}
	for _, secret := range s.Secret {
		err = hook.Verify(secret, header.Get(hook.HeaderID), header.Get(hook.HeaderTimestamp),
			header.Get(hook.HeaderSignature), body, now)
		if err == nil {
			return nil
		}
	}
	return err
}

type webhookListenCommand struct {
	Addr string `default:"127.0.0.1:9000" env:"CARDWALL_WEBHOOK_LISTEN_ADDR" placeholder:"HOST:PORT" help:"Address to listen on (default ${default})."`
	webhookSecrets
	Status int           `default:"204" env:"CARDWALL_WEBHOOK_LISTEN_STATUS" placeholder:"CODE" help:"${help_listen_status}"`
	Delay  time.Duration `env:"CARDWALL_WEBHOOK_LISTEN_DELAY" placeholder:"DURATION" help:"How long to wait before responding. The sender times out after 10s."`
	JSON   bool          `name:"json" env:"CARDWALL_WEBHOOK_LISTEN_JSON" help:"Print each delivery as one line of JSON."`
}

func (webhookListenCommand) Help() string {
	return "Prints deliveries until you press Ctrl-C: the time, the event kind, the delivery id, the board version, " +
		"whether the signature is valid (if a secret is given), whether the delivery arrived before, and the body. " +
		"A server on the same machine must run with --webhook-allow 127.0.0.1 to send deliveries here.\n\n" +
		"Examples:\n" +
		"  CARDWALL_WEBHOOK_SECRET=whsec_… cardwall webhook listen\n" +
		"  cardwall webhook listen --addr 127.0.0.1:9001 --status 500\n" +
		"  cardwall webhook listen --delay 12s\n" +
		"  cardwall webhook listen --json | jq .body.data"
}

func (c *webhookListenCommand) Run(ctx context.Context, g *globals) error {
	if err := c.validate(); err != nil {
		return err
	}
	switch {
	case c.Status < 200 || c.Status > 599:
		return errors.New("--status must be from 200 to 599")
	case c.Delay < 0 || c.Delay > maxDelay:
		return fmt.Errorf("--delay must be from 0s to %s", maxDelay)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", c.Addr)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", c.Addr, err)
	}
	r := &receiver{options: c, out: g.stdout, stop: ctx.Done()}
	server := &http.Server{
		// The timeouts must allow for the delay of the response.
		Handler: r, ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout: readTimeout + c.Delay, WriteTimeout: readTimeout + writeTimeout + c.Delay,
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes,
		ErrorLog: slog.NewLogLogger(g.log.Handler(), slog.LevelDebug),
	}
	g.log.Info("listening", "address", "http://"+listener.Addr().String(), "status", c.Status, "secrets", len(c.Secret))
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return fmt.Errorf("listen on %s: %w", c.Addr, err)
	case <-ctx.Done():
		stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		if server.Shutdown(stopping) != nil {
			_ = server.Close() // the sender retries deliveries that this interrupts
		}
		g.log.Info("stopped", "deliveries", r.deliveries())
		return nil
	}
}

// receiver prints deliveries. It prints only printable characters, so that a
// sender cannot control the terminal.
type receiver struct {
	options *webhookListenCommand
	stop    <-chan struct{}

	mu    sync.Mutex // also held while writing, so that the output of deliveries is not interleaved
	out   io.Writer
	seen  seenIDs
	count int
}

// deliveries returns the number of deliveries received.
func (r *receiver) deliveries() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.count
}

// received is the JSON form of a delivery.
type received struct {
	At           string         `json:"at"`
	Type         string         `json:"type"`
	ID           string         `json:"id"`
	BoardVersion int64          `json:"boardVersion"`
	Signature    string         `json:"signature"`
	Problem      string         `json:"problem,omitempty"`
	Repeat       bool           `json:"repeat"`
	Body         jsontext.Value `json:"body"`
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	now := time.Now()
	if q.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "Deliveries use the POST method.", http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, q.Body, maxBodySize))
	if large := new(http.MaxBytesError); errors.As(err, &large) {
		r.print(q.Header, nil, now, "the body is larger than 1 MiB")
		http.Error(w, "The body is larger than 1 MiB.", http.StatusRequestEntityTooLarge)
		return
	}
	if err != nil {
		panic(http.ErrAbortHandler) // the sender has disconnected
	}
	r.print(q.Header, body, now, "")
	if r.options.Delay > 0 {
		select {
		case <-time.After(r.options.Delay):
		case <-q.Context().Done():
		case <-r.stop:
			panic(http.ErrAbortHandler) // a response without the full delay would be misleading
		}
	}
	w.WriteHeader(r.options.Status)
}

// print prints a delivery and counts it. It checks the signature if there are secrets
// and problem is empty.
func (r *receiver) print(header http.Header, body []byte, now time.Time, problem string) {
	d := received{
		At: now.UTC().Format("2006-01-02T15:04:05.000Z"), ID: truncate(header.Get(hook.HeaderID)),
		Problem: problem, Signature: "not checked",
	}
	var event struct {
		Type         string `json:"type"`
		BoardVersion int64  `json:"boardVersion"`
	}
	if json.Unmarshal(body, &event) == nil { // any other body is printed as is
		d.Type, d.BoardVersion = truncate(event.Type), event.BoardVersion
	}
	if problem == "" && len(r.options.Secret) > 0 {
		d.Signature = "valid"
		if err := r.options.check(header, body, now); err != nil {
			d.Signature, d.Problem = "invalid", err.Error()
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count++
	d.Repeat = r.seen.add(header.Get(hook.HeaderID))
	text := d.text(body)
	if r.options.JSON {
		text = d.line(body)
	}
	_, _ = io.WriteString(r.out, text)
}

// text formats a delivery for a terminal: a summary on one line, then the body.
func (d *received) text(body []byte) string {
	parts := []string{d.At, d.Type, d.ID}
	if d.Type == "" {
		parts[1] = "no event"
	}
	if d.ID == "" {
		parts[2] = "without id"
	}
	if d.BoardVersion != 0 {
		parts = append(parts, "boardVersion "+strconv.FormatInt(d.BoardVersion, 10))
	}
	parts = append(parts, "signature "+d.Signature)
	if d.Problem != "" {
		parts[len(parts)-1] += ": " + d.Problem
	}
	if d.Repeat {
		parts = append(parts, "repeat")
	}
	var b strings.Builder
	b.WriteString(printable(strings.Join(parts, "  ")) + "\n")
	for line := range strings.Lines(indented(body)) {
		b.WriteString("  " + printable(strings.TrimRight(line, "\r\n")) + "\n")
	}
	return b.String()
}

// line formats a delivery as one line of JSON. A body that is not JSON becomes a
// string.
func (d *received) line(body []byte) string {
	d.Body = body
	if !d.Body.IsValid(jsontext.AllowDuplicateNames(true)) {
		d.Body, _ = jsontext.AppendQuote(nil, body) // the only possible error is invalid UTF-8, which is replaced
	}
	text, err := json.Marshal(d, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return fmt.Sprintf("{\"problem\":%q}\n", printable(err.Error()))
	}
	return printable(string(text)) + "\n" // valid JSON: unprintable characters occur only in strings
}

// indented returns JSON with line breaks and indentation. It returns any other text,
// and JSON nested deeper than maxNesting, unchanged.
func indented(body []byte) string {
	if v := jsontext.Value(bytes.Clone(body)); nesting(body) <= maxNesting && v.Indent(jsontext.WithIndent("  ")) == nil {
		return string(v)
	}
	return string(body)
}

// nesting returns the maximum depth of nested objects and arrays.
func nesting(body []byte) (deepest int) {
	d := jsontext.NewDecoder(bytes.NewReader(body), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		if _, err := d.ReadToken(); err != nil {
			return deepest
		}
		deepest = max(deepest, d.StackDepth())
	}
}

// truncate shortens text to about maxHeaderShown bytes without splitting a
// character.
func truncate(text string) string {
	for i := range text {
		if i > maxHeaderShown {
			return text[:i] + "…"
		}
	}
	return text
}

// printable replaces characters that are not printable, such as control characters
// and characters that change the text direction, with JSON escapes.
func printable(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r > 0xFFFF:
			high, low := utf16.EncodeRune(r)
			_, _ = fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			_, _ = fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// seenIDs remembers the most recent delivery ids. It stores their hashes, so that
// long ids do not need more memory.
type seenIDs struct {
	known map[[sha256.Size]byte]struct{}
	ring  [][sha256.Size]byte
	next  int // index of the oldest entry once the ring is full
}

// add remembers id and reports whether it was already known.
func (s *seenIDs) add(id string) bool {
	if id == "" {
		return false
	}
	hash := sha256.Sum256([]byte(id))
	if _, known := s.known[hash]; known {
		return true
	}
	if s.known == nil {
		s.known = map[[sha256.Size]byte]struct{}{}
	}
	s.known[hash] = struct{}{}
	if len(s.ring) < maxRememberedIDs {
		s.ring = append(s.ring, hash)
		return false
	}
	delete(s.known, s.ring[s.next])
	s.ring[s.next] = hash
	s.next = (s.next + 1) % maxRememberedIDs
	return false
}

type webhookVerifyCommand struct {
	File string `arg:"" optional:"" default:"-" help:"File with the exact bytes of the body, or - for standard input (default)."`
	webhookSecrets
	ID        string `required:"" name:"id" placeholder:"ID" help:"Value of the webhook-id header."`
	Timestamp string `required:"" placeholder:"SECONDS" help:"Value of the webhook-timestamp header."`
	Signature string `required:"" placeholder:"v1,…" help:"Value of the webhook-signature header, with all its entries."`
	At        string `env:"-" placeholder:"TIME" help:"Verify as of this time, in RFC 3339 or Unix seconds (default: now)."`
}

func (webhookVerifyCommand) Help() string {
	return "Verifies that a delivery was signed with the secret. If it was not, explains what is wrong.\n\n" +
		"Examples:\n" +
		"  export CARDWALL_WEBHOOK_SECRET=whsec_…\n" +
		"  cardwall webhook verify body.json --id itg_01jb2m3n4p5q6r7s8t9v0w1x2y:v42 --timestamp 1772460000 " +
		"--signature 'v1,…' --at 1772460000\n" +
		"  printf %s \"$BODY\" | " +
		"cardwall webhook verify --id \"$ID\" --timestamp \"$TIMESTAMP\" --signature \"$SIGNATURE\""
}

func (c *webhookVerifyCommand) Run(_ context.Context, g *globals) error {
	if len(c.Secret) == 0 {
		return errors.New("webhook verify needs --secret or CARDWALL_WEBHOOK_SECRET")
	}
	if err := c.validate(); err != nil {
		return err
	}
	at, err := c.at()
	if err != nil {
		return err
	}
	body, err := c.body(g.stdin)
	if err != nil {
		return err
	}
	if err := c.verify(body, at); err != nil {
		return err
	}
	g.print("The signature is valid.")
	return nil
}

// at returns the time that the timestamp of the delivery must be close to.
func (c *webhookVerifyCommand) at() (time.Time, error) {
	if c.At == "" {
		return time.Now(), nil
	}
	if seconds, err := strconv.ParseInt(c.At, 10, 64); err == nil {
		return time.Unix(seconds, 0), nil
	}
	at, err := time.Parse(time.RFC3339, c.At)
	if err != nil {
		err = errors.New("--at must be a time such as 2026-03-02T14:00:00Z, or Unix seconds")
	}
	return at, err
}

// body reads the delivery's body.
func (c *webhookVerifyCommand) body(stdin io.Reader) ([]byte, error) {
	if c.File != "-" {
		f, err := os.Open(c.File)
		if err != nil {
			return nil, err
		}
		defer func() { _ = f.Close() }() // opened only for reading
		stdin = f
	}
	body, err := io.ReadAll(io.LimitReader(stdin, maxBodySize+1))
	if err == nil && len(body) > maxBodySize {
		err = errors.New("it is larger than 1 MiB")
	}
	if err != nil {
		return nil, fmt.Errorf("read the body: %w", err)
	}
	return body, nil
}

// verify checks the delivery. If the check fails, verify looks for common mistakes,
// so that the error says what to correct.
func (c *webhookVerifyCommand) verify(body []byte, at time.Time) error {
	header := http.Header{}
	header.Set(hook.HeaderID, c.ID)
	header.Set(hook.HeaderTimestamp, c.Timestamp)
	header.Set(hook.HeaderSignature, c.Signature)
	checkErr := c.check(header, body, at)
	if checkErr == nil {
		return nil
	}
	var event struct {
		ID string `json:"id"`
	}
	_ = json.Unmarshal(body, &event) // an invalid body has no id to compare
	seconds, _ := strconv.ParseInt(c.Timestamp, 10, 64)
	trimmed := bytes.TrimRight(body, "\r\n")
	switch {
	case c.check(header, body, time.Unix(seconds, 0)) == nil:
		return fmt.Errorf("%w; the signature itself is valid, so use --at to verify as of another time", checkErr)
	case len(trimmed) < len(body) && c.check(header, trimmed, at) == nil:
		return errors.New("the body ends with a line break that was not sent; without it the signature is valid")
	case c.ID != "" && event.ID != "" && event.ID != c.ID:
		return errors.New("the body belongs to a different delivery than --id")
	case !strings.HasPrefix(c.Signature, "v1,") && !strings.Contains(c.Signature, " v1,"):
		return errors.New(hook.HeaderSignature + " has no entry of the form v1,…")
	}
	return checkErr
}
