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
	Listen webhookListenCommand `cmd:"" help:"Receive deliveries, and show what comes."`
	Verify webhookVerifyCommand `cmd:"" help:"Check the signature of one delivery."`
}

const (
	maxReceived  = 1 << 20 // bytes of a body
	maxShown     = 120     // characters of an id and a kind
	maxNesting   = 64      // beyond it, indenting would multiply a body's size
	idsKept      = 10_000  // of deliveries, to tell repeats
	longestDelay = 10 * time.Minute
)

// webhookSecrets are the secrets of whom a delivery may be by.
type webhookSecrets struct {
	Secret []string `env:"CARDWALL_WEBHOOK_SECRET" placeholder:"whsec_…" help:"Signing secret; during a rotation both, with a comma between. Set it in the environment, for ps shows flags to everyone."`
}

// valid refuses what is no secret, without repeating it.
func (s webhookSecrets) valid() error {
	if _, err := hook.Sign(s.Secret, "", 0, nil); err != nil {
		return fmt.Errorf("--secret: %w", err)
	}
	return nil
}

// check says what is wrong with a delivery: it must be signed by one of the
// secrets, at about this time.
func (s webhookSecrets) check(header http.Header, body []byte, now time.Time) (err error) {
	for _, name := range []string{hook.HeaderID, hook.HeaderTimestamp, hook.HeaderSignature} {
		if header.Get(name) == "" {
			return errors.New(name + " is missing")
		}
	}
	for _, secret := range s.Secret {
		err = hook.Verify(secret, header.Get(hook.HeaderID), header.Get(hook.HeaderTimestamp), header.Get(hook.HeaderSignature), body, now)
		if err == nil {
			return nil
		}
	}
	return err
}

type webhookListenCommand struct {
	Addr string `default:"127.0.0.1:9000" env:"CARDWALL_WEBHOOK_LISTEN_ADDR" placeholder:"HOST:PORT" help:"Address to listen on; 127.0.0.1:9000 when absent."`
	webhookSecrets
	Status int           `default:"204" env:"CARDWALL_WEBHOOK_LISTEN_STATUS" placeholder:"CODE" help:"What it answers; 204 when absent. After 500 deliveries are retried, 410 switches the webhook off."`
	Delay  time.Duration `env:"CARDWALL_WEBHOOK_LISTEN_DELAY" placeholder:"DURATION" help:"How long it takes to answer; more than 10s is a timeout for the sender."`
	JSON   bool          `name:"json" env:"CARDWALL_WEBHOOK_LISTEN_JSON" help:"Print each delivery as one line of JSON."`
}

func (webhookListenCommand) Help() string {
	return "Shows deliveries until Ctrl-C: when each came, its kind, id and board version, whether its signature is right, whether it is a repeat, and its body. " +
		"A server on the same machine sends here when it runs with --webhook-allow 127.0.0.1.\n\n" +
		"Examples:\n  CARDWALL_WEBHOOK_SECRET=whsec_… cardwall webhook listen\n  cardwall webhook listen --addr 127.0.0.1:9001 --status 500\n" +
		"  cardwall webhook listen --delay 12s\n  cardwall webhook listen --json | jq .body.data"
}

func (c *webhookListenCommand) Run(ctx context.Context, g *globals) error {
	if err := c.valid(); err != nil {
		return err
	}
	switch {
	case c.Status < 200 || c.Status > 599:
		return errors.New("--status must be from 200 to 599")
	case c.Delay < 0 || c.Delay > longestDelay:
		return fmt.Errorf("--delay must be from 0s to %s", longestDelay)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", c.Addr)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", c.Addr, err)
	}
	r := &receiver{options: c, out: g.stdout, stop: ctx.Done()}
	server := &http.Server{
		// The deadlines of a connection run on while it waits for its answer.
		Handler: r, ReadHeaderTimeout: readHeaderTimeout, ReadTimeout: readTimeout + c.Delay, WriteTimeout: readTimeout + writeTimeout + c.Delay,
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes, ErrorLog: slog.NewLogLogger(g.log.Handler(), slog.LevelDebug),
	}
	g.log.Info("listening", "address", "http://"+listener.Addr().String(), "answers", c.Status, "secrets", len(c.Secret))
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return fmt.Errorf("listen on %s: %w", c.Addr, err)
	case <-ctx.Done():
		stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		if server.Shutdown(stopping) != nil {
			_ = server.Close() // whoever is still sending sends again
		}
		g.log.Info("stopped", "deliveries", r.shown())
		return nil
	}
}

// receiver shows deliveries. Nothing that a sender makes up reaches the terminal
// as anything but printable characters.
type receiver struct {
	options *webhookListenCommand
	stop    <-chan struct{}

	mu    sync.Mutex // one delivery is shown after the other
	out   io.Writer
	seen  seenIDs
	count int
}

// shown is how many deliveries were.
func (r *receiver) shown() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.count
}

// received is a delivery as it is shown.
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
		http.Error(w, "Deliveries are sent with POST.", http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, q.Body, maxReceived))
	if large := new(http.MaxBytesError); errors.As(err, &large) {
		r.show(q.Header, nil, now, "the body is larger than 1 MiB")
		http.Error(w, "The body is larger than 1 MiB.", http.StatusRequestEntityTooLarge)
		return
	}
	if err != nil {
		panic(http.ErrAbortHandler) // the sender is gone
	}
	r.show(q.Header, body, now, "")
	if r.options.Delay > 0 {
		select {
		case <-time.After(r.options.Delay):
		case <-q.Context().Done():
		case <-r.stop:
			panic(http.ErrAbortHandler) // an answer now would not be the one that was asked for
		}
	}
	w.WriteHeader(r.options.Status)
}

// show prints a delivery. A problem keeps it from being checked.
func (r *receiver) show(header http.Header, body []byte, now time.Time, problem string) {
	d := received{At: now.UTC().Format("2006-01-02T15:04:05.000Z"), ID: beginning(header.Get(hook.HeaderID)), Problem: problem, Signature: "not checked"}
	var facts struct {
		Type         string `json:"type"`
		BoardVersion int64  `json:"boardVersion"`
	}
	if json.Unmarshal(body, &facts) == nil { // else the body shows what it is
		d.Type, d.BoardVersion = beginning(facts.Type), facts.BoardVersion
	}
	if problem == "" && len(r.options.Secret) > 0 {
		d.Signature = "right"
		if err := r.options.check(header, body, now); err != nil {
			d.Signature, d.Problem = "wrong", err.Error()
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count++
	d.Repeat = r.seen.repeat(header.Get(hook.HeaderID))
	text := d.text(body)
	if r.options.JSON {
		text = d.line(body)
	}
	_, _ = io.WriteString(r.out, text)
}

// text is a delivery for a person: a line about it, and its body.
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

// line is a delivery for a program. A body that is no JSON is a string in it.
func (d *received) line(body []byte) string {
	d.Body = body
	if !d.Body.IsValid(jsontext.AllowDuplicateNames(true)) {
		d.Body, _ = jsontext.AppendQuote(nil, body) // the error is bad UTF-8, which is replaced
	}
	text, err := json.Marshal(d, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return fmt.Sprintf("{\"problem\":%q}\n", printable(err.Error()))
	}
	return printable(string(text)) + "\n" // what it replaces can only stand in strings
}

// indented is JSON over several lines, and other text as it is.
func indented(body []byte) string {
	if v := jsontext.Value(bytes.Clone(body)); nesting(body) <= maxNesting && v.Indent(jsontext.WithIndent("  ")) == nil {
		return string(v)
	}
	return string(body)
}

// nesting is how deep objects and arrays stand within each other.
func nesting(body []byte) (deepest int) {
	d := jsontext.NewDecoder(bytes.NewReader(body), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		if _, err := d.ReadToken(); err != nil {
			return deepest
		}
		deepest = max(deepest, d.StackDepth())
	}
}

// beginning is as much of a text as stands in a line.
func beginning(text string) string {
	for i := range text {
		if i > maxShown {
			return text[:i] + "…"
		}
	}
	return text
}

// printable writes all that a terminal might obey, or show in another order, as
// JSON escapes it.
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

// seenIDs remembers the last ids of deliveries, by their hashes, so that long
// ones take no more room.
type seenIDs struct {
	known map[[sha256.Size]byte]struct{}
	line  [][sha256.Size]byte
	next  int // the oldest in line, once it is full
}

// repeat remembers an id, and tells whether it did already.
func (s *seenIDs) repeat(id string) bool {
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
	if len(s.line) < idsKept {
		s.line = append(s.line, hash)
		return false
	}
	delete(s.known, s.line[s.next])
	s.line[s.next] = hash
	s.next = (s.next + 1) % idsKept
	return false
}

type webhookVerifyCommand struct {
	File string `arg:"" optional:"" default:"-" help:"The body as it came, byte for byte; - is standard input, and so when absent."`
	webhookSecrets
	ID        string `required:"" name:"id" placeholder:"ID" help:"The header webhook-id."`
	Timestamp string `required:"" placeholder:"SECONDS" help:"The header webhook-timestamp."`
	Signature string `required:"" placeholder:"v1,…" help:"The header webhook-signature, with all its entries."`
	At        string `env:"-" placeholder:"TIME" help:"Check as of this time, in RFC 3339 or Unix seconds; now when absent."`
}

func (webhookVerifyCommand) Help() string {
	return "Says whether a delivery is by who knows the signing secret, and if not, what is wrong with it.\n\n" +
		"Examples:\n  export CARDWALL_WEBHOOK_SECRET=whsec_…\n" +
		"  cardwall webhook verify body.json --id itg_01jb2m3n4p5q6r7s8t9v0w1x2y:v42 --timestamp 1772460000 --signature 'v1,…' --at 1772460000\n" +
		"  printf %s \"$BODY\" | cardwall webhook verify --id \"$ID\" --timestamp \"$TIMESTAMP\" --signature \"$SIGNATURE\""
}

func (c *webhookVerifyCommand) Run(_ context.Context, g *globals) error {
	if len(c.Secret) == 0 {
		return errors.New("webhook verify takes --secret, or CARDWALL_WEBHOOK_SECRET")
	}
	if err := c.valid(); err != nil {
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
	g.print("The signature is right.")
	return nil
}

// at is the time as of which is checked.
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
		defer func() { _ = f.Close() }() // only read
		stdin = f
	}
	body, err := io.ReadAll(io.LimitReader(stdin, maxReceived+1))
	if err == nil && len(body) > maxReceived {
		err = errors.New("it is larger than 1 MiB")
	}
	if err != nil {
		return nil, fmt.Errorf("read the body: %w", err)
	}
	return body, nil
}

// verify checks the delivery, and looks for what people get wrong by hand.
func (c *webhookVerifyCommand) verify(body []byte, at time.Time) error {
	header := http.Header{}
	header.Set(hook.HeaderID, c.ID)
	header.Set(hook.HeaderTimestamp, c.Timestamp)
	header.Set(hook.HeaderSignature, c.Signature)
	wrong := c.check(header, body, at)
	if wrong == nil {
		return nil
	}
	var facts struct {
		ID string `json:"id"`
	}
	_ = json.Unmarshal(body, &facts) // then it has no id to compare
	seconds, _ := strconv.ParseInt(c.Timestamp, 10, 64)
	trimmed := bytes.TrimRight(body, "\r\n")
	switch {
	case c.check(header, body, time.Unix(seconds, 0)) == nil:
		return fmt.Errorf("%w; the signature itself is right, and --at checks as of another time", wrong)
	case len(trimmed) < len(body) && c.check(header, trimmed, at) == nil:
		return errors.New("the body ends in a line break that was not sent; without it the signature is right")
	case c.ID != "" && facts.ID != "" && facts.ID != c.ID:
		return errors.New("the body is of another delivery than --id")
	case !strings.HasPrefix(c.Signature, "v1,") && !strings.Contains(c.Signature, " v1,"):
		return errors.New(hook.HeaderSignature + " has no entry of the form v1,…")
	}
	return wrong
}
