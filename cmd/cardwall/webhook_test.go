package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cardwall/internal/apptest"
	"cardwall/internal/hook"
)

const (
	deliveryID = "itg_01jb2m3n4p5q6r7s8t9v0w1x2y:v42"
	delivery   = `{"id":"` + deliveryID + `","type":"card.created","boardVersion":42,"data":{"cardId":"crd_1"}}`
)

// testSecret returns a signing secret made of one repeated letter.
func testSecret(letter string) string {
	return "whsec_" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat(letter, 32)))
}

// listener is a running `webhook listen` command.
type listener struct {
	t       *testing.T
	address string
	out     apptest.Buffer
	log     apptest.Buffer
	stop    context.CancelFunc
	ended   chan error
}

// listen starts the command and waits until it listens.
func listen(t *testing.T, c webhookListenCommand) *listener {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	l := &listener{t: t, stop: cancel, ended: make(chan error, 1)}
	c.Addr = "127.0.0.1:0"
	if c.Status == 0 {
		c.Status = http.StatusNoContent
	}
	g := &globals{stdout: &l.out, log: slog.New(slog.NewJSONHandler(&l.log, nil))}
	go func() { l.ended <- c.Run(ctx, g) }()
	t.Cleanup(l.end)
	address := regexp.MustCompile(`"address":"(http://[^"]+)"`)
	found := apptest.Await(t, "the command listens", func() (found []string, done bool) {
		found = address.FindStringSubmatch(l.log.String())
		return found, found != nil
	})
	l.address = found[1]
	return l
}

// end interrupts the command like Ctrl-C. The command must then return without an error.
func (l *listener) end() {
	l.t.Helper()
	l.stop()
	apptest.Eventually(l.t, "the command returns", func() bool { return len(l.ended) > 0 })
	if err := <-l.ended; err != nil {
		l.t.Errorf("the command returned error %v, want none", err)
	}
	l.ended <- nil // for a second call of end
}

// send sends a delivery signed at the given time. It returns the status, or 0 if the request fails.
func (l *listener) send(secret, id string, at time.Time, body string) (status int) {
	l.t.Helper()
	q, err := http.NewRequestWithContext(l.t.Context(), http.MethodPost, l.address+"/hook", strings.NewReader(body))
	if err != nil {
		l.t.Fatal(err)
	}
	signed, err := hook.Sign([]string{secret}, id, at.Unix(), []byte(body))
	if err != nil {
		l.t.Fatal(err)
	}
	q.Header = http.Header{hook.HeaderID: {id}, hook.HeaderTimestamp: {strconv.FormatInt(at.Unix(), 10)},
		hook.HeaderSignature: {signed}}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(q)
	if err != nil {
		return 0
	}
	defer func() { _ = res.Body.Close() }()
	_, _ = io.Copy(io.Discard, res.Body)
	return res.StatusCode
}

func TestListenShowsDeliveries(t *testing.T) {
	t.Parallel()
	first, second := testSecret("a"), testSecret("b")
	l := listen(t, webhookListenCommand{webhookSecrets: webhookSecrets{[]string{first, second}}})
	now := time.Now()
	for _, c := range []struct {
		name, secret, id string
		at               time.Time
		want             string
	}{
		{"the first secret", first, deliveryID, now,
			"  card.created  " + deliveryID + "  boardVersion 42  signature valid\n"},
		{"the second secret, again", second, deliveryID, now,
			"  card.created  " + deliveryID + "  boardVersion 42  signature valid  repeat\n"},
		{"another secret", testSecret("c"), "other", now,
			"  other  boardVersion 42  signature invalid: no entry of webhook-signature matches this secret\n"},
		{"an old delivery", first, "old", now.Add(-time.Hour),
			"  old  boardVersion 42  signature invalid: webhook-timestamp differs from now by 1h0m"},
		{"no id", first, "", now, "  without id  boardVersion 42  signature invalid: webhook-id is missing\n"},
	} {
		before := len(l.out.String())
		if status := l.send(c.secret, c.id, c.at, delivery); status != http.StatusNoContent {
			t.Errorf("%s: got status %d, want 204", c.name, status)
		}
		if shown := l.out.String()[before:]; !strings.Contains(shown, c.want) ||
			!strings.Contains(shown, "\n    \"data\": {\n      \"cardId\": \"crd_1\"\n    }\n  }\n") {
			t.Errorf("%s: printed\n%s\nwant %q and the body", c.name, shown, c.want)
		}
	}
	l.end()
	all := l.out.String() + l.log.String()
	for _, secret := range []string{first, second} {
		if strings.Contains(all, secret) || strings.Contains(all, strings.TrimPrefix(secret, "whsec_")) {
			t.Error("the output contains a secret")
		}
	}
	if !strings.Contains(l.log.String(), `"msg":"stopped","deliveries":5`) {
		t.Errorf("got log\n%s\nwant 5 deliveries", l.log.String())
	}
}

func TestListenWithoutASecret(t *testing.T) {
	t.Parallel()
	l := listen(t, webhookListenCommand{Status: http.StatusGone})
	if status := l.send(testSecret("a"), deliveryID, time.Now(), delivery); status != http.StatusGone {
		t.Errorf("got status %d, want 410", status)
	}
	if !strings.Contains(l.out.String(), "signature not checked\n") {
		t.Errorf("printed\n%s\nwant an unchecked signature", l.out.String())
	}
	res, err := http.Get(l.address) //nolint:noctx // like a browser
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("GET: got status %d, want 405", res.StatusCode)
	}
}

// The output never contains control characters from a delivery, because they could control the terminal.
func TestListenIsSafeForTheTerminal(t *testing.T) {
	t.Parallel()
	for _, asJSON := range []bool{false, true} {
		l := listen(t, webhookListenCommand{JSON: asJSON})
		for _, body := range []string{
			"\x1b[2J\x07\rnot json\n\u009b31m\u202e\x7f\xff",
			`{"id":"x","type":"card\u001b[2J` + "\u009b\x7f\u202e" + `","boardVersion":1}`,
			`{"type":"` + strings.Repeat("long", 1000) + `"}`,
			"\U000e0001",
			"",
		} {
			if status := l.send(testSecret("a"), "id\u009b31m\u202e"+strings.Repeat("x", 300), time.Now(),
				body); status != http.StatusNoContent {
				t.Errorf("%q: got status %d, want 204", body, status)
			}
		}
		shown := l.out.String()
		if i := strings.IndexFunc(shown, func(r rune) bool {
			return r != '\n' && (r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u202e' || r == '\U000e0001')
		}); i >= 0 {
			t.Errorf("the output contains %q", shown[i:min(len(shown), i+20)])
		}
		lines := strings.Split(strings.TrimSuffix(shown, "\n"), "\n")
		for _, line := range lines {
			switch {
			case !asJSON && !strings.HasPrefix(line, " ") && len(line) > 600:
				t.Errorf("the summary of a delivery has %d bytes, want at most 600", len(line))
			case asJSON && !json.Valid([]byte(line)):
				t.Errorf("a line of the output is not JSON: %s", line)
			}
		}
		if asJSON && len(lines) != 5 || !strings.Contains(shown, `\u009b31m\u202e`) ||
			!strings.Contains(shown, `\udb40\udc01`) {
			t.Errorf("printed\n%s\nwant escaped control characters", shown)
		}
	}
}

func TestListenAsJSON(t *testing.T) {
	t.Parallel()
	secret := testSecret("a")
	l := listen(t, webhookListenCommand{JSON: true, webhookSecrets: webhookSecrets{[]string{secret}}})
	l.send(secret, deliveryID, time.Now(), delivery)
	l.send(testSecret("b"), deliveryID, time.Now(), "text")
	var got [2]struct {
		At, Type, ID, Signature, Problem string
		BoardVersion                     int
		Repeat                           bool
		Body                             any
	}
	lines := strings.Split(l.out.String(), "\n")
	for i := range got {
		if err := json.Unmarshal([]byte(lines[i]), &got[i]); err != nil {
			t.Fatalf("decode line %d: %v\n%s", i+1, err, l.out.String())
		}
	}
	if g := got[0]; g.Type != "card.created" || g.ID != deliveryID || g.BoardVersion != 42 || g.Signature != "valid" ||
		g.Repeat || g.At == "" || g.Problem != "" ||
		fmt.Sprint(g.Body.(map[string]any)["data"]) != "map[cardId:crd_1]" {
		t.Errorf("got first delivery %+v, want a new one with a valid signature", g)
	}
	if g := got[1]; g.Signature != "invalid" || g.Problem == "" || !g.Repeat || g.Body != "text" {
		t.Errorf("got second delivery %+v, want a repeat with an invalid signature", g)
	}
}

func TestListenLimitsDeliveries(t *testing.T) {
	t.Parallel()
	l := listen(t, webhookListenCommand{})
	if status := l.send(testSecret("a"), "large", time.Now(),
		strings.Repeat("x", maxBodySize+1)); status != http.StatusRequestEntityTooLarge {
		t.Errorf("large body: got status %d, want 413", status)
	}
	if !strings.Contains(l.out.String(), "signature not checked: the body is larger than 1 MiB\n") {
		t.Errorf("a large body: printed\n%s\nwant an unchecked signature and the limit", l.out.String())
	}
	status := 0
	for range 10 { // a slow client may see a connection reset instead
		if status = l.send(testSecret("a"), strings.Repeat("x", 64<<10), time.Now(), "{}"); status != 0 {
			break
		}
	}
	if status != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("large headers: got status %d, want 431", status)
	}
	// Indentation would make this body thousands of times as large.
	before := len(l.out.String())
	deep := strings.Repeat("[", 5000) + strings.Repeat("1,", 10_000) + "1" + strings.Repeat("]", 5000)
	l.send(testSecret("a"), "deep", time.Now(), deep)
	if added := len(l.out.String()) - before; added > 2*len(deep) {
		t.Errorf("printed %d bytes for a body of %d bytes, want at most twice as many", added, len(deep))
	}
	var seen seenIDs
	for i := range 2 * maxRememberedIDs {
		if seen.add(strconv.Itoa(i)) {
			t.Fatalf("new id %d is reported as already known", i)
		}
	}
	if len(seen.known) != maxRememberedIDs || len(seen.ring) != maxRememberedIDs ||
		!seen.add(strconv.Itoa(maxRememberedIDs)) || seen.add(strconv.Itoa(maxRememberedIDs-1)) {
		t.Errorf("%d ids are remembered, want the newest %d", len(seen.known), maxRememberedIDs)
	}
}

func TestListenDelaysResponses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &receiver{options: &webhookListenCommand{Status: http.StatusServiceUnavailable, Delay: 300 * time.Millisecond},
			out: io.Discard}
		started, w := time.Now(), httptest.NewRecorder()
		r.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/hook", strings.NewReader("{}")))
		if took := time.Since(started); w.Code != http.StatusServiceUnavailable || took != 300*time.Millisecond {
			t.Errorf("got status %d after %v, want 503 after 300ms", w.Code, took)
		}
	})
	// After Ctrl-C, the command neither waits for delayed responses nor sends them early.
	l := listen(t, webhookListenCommand{Delay: maxDelay})
	statuses := make(chan int, 1)
	go func() { statuses <- l.send(testSecret("a"), "late", time.Now(), "{}") }()
	apptest.Eventually(t, "the delivery arrives", func() bool { return l.out.String() != "" })
	l.end()
	if status := <-statuses; status != 0 {
		t.Errorf("got status %d after Ctrl-C, want a closed connection", status)
	}
}

func TestVerifyReportsTheError(t *testing.T) {
	t.Parallel()
	c := cli{t, t.TempDir()}
	secret, now := testSecret("a"), strconv.FormatInt(time.Now().Unix(), 10)
	signed := func(id, at, body string, secrets ...string) []string {
		seconds, _ := strconv.ParseInt(at, 10, 64)
		s, err := hook.Sign(secrets, id, seconds, []byte(body))
		if err != nil {
			t.Fatal(err)
		}
		return []string{"webhook", "verify", "--secret", secret, "--id", id, "--timestamp", at, "--signature", s}
	}
	for _, args := range [][]string{
		signed(deliveryID, now, delivery, secret),
		signed(deliveryID, now, delivery, testSecret("b"), secret),
		append(signed(deliveryID, "1772460000", delivery, secret), "--at", "1772460300"),
		append(signed(deliveryID, "1772460000", delivery, secret), "--at", "2026-03-02T15:00:00+01:00"),
		append(signed(deliveryID, now, delivery, secret), "--secret", testSecret("b")),
	} {
		if status, out, stderr := c.run(delivery, args...); status != 0 || out != "The signature is valid." ||
			stderr != "" {
			t.Errorf("cardwall %v: status %d, printed %q and %q; want a valid signature", args, status, out, stderr)
		}
	}
	for _, bad := range []struct {
		want, body string
		args       []string
	}{
		{"no entry of webhook-signature matches this secret", delivery, signed(deliveryID, now, delivery, testSecret("b"))},
		{"no entry of webhook-signature matches this secret", strings.Replace(delivery, "crd_1", "crd_2", 1),
			signed(deliveryID, now, delivery, secret)},
		{"ends with a line break", delivery + "\n", signed(deliveryID, now, delivery, secret)},
		{"the limit is 5m0s; the signature itself is valid, so use --at", delivery,
			signed(deliveryID, "1772460000", delivery, secret)},
		{"the limit is 5m0s", delivery, append(signed(deliveryID, "1772460000", delivery, secret), "--at", "1772459699")},
		{"belongs to a different delivery than --id", strings.Replace(delivery, "v42", "v43", 1),
			signed(deliveryID, now, delivery, secret)},
		{"has no entry of the form v1,", delivery, []string{"webhook", "verify", "--secret", secret, "--id", deliveryID,
			"--timestamp", now, "--signature", "abc"}},
		{"is not a Unix time in seconds", delivery, []string{"webhook", "verify", "--secret", secret, "--id", deliveryID,
			"--timestamp", "soon", "--signature", "v1,abc"}},
		{"webhook-id is missing", delivery,
			[]string{"webhook", "verify", "--secret", secret, "--id", "", "--timestamp", now, "--signature", "v1,abc"}},
		{"--secret: a signing secret must be whsec_ followed by base64", delivery,
			append(signed(deliveryID, now, delivery, secret), "--secret", "hunter2")},
		{"needs --secret", delivery, []string{"webhook", "verify", "--id", "x", "--timestamp", now, "--signature", "v1,abc"}},
		{"--at must be", delivery, append(signed(deliveryID, now, delivery, secret), "--at", "yesterday")},
		{"larger than 1 MiB", strings.Repeat("x", maxBodySize+1), signed(deliveryID, now, delivery, secret)},
		{"no such file", delivery, append(signed(deliveryID, now, delivery, secret), t.TempDir()+"/body.json")},
	} {
		status, out, stderr := c.run(bad.body, bad.args...)
		if status != 1 || out != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, bad.want) ||
			strings.Contains(stderr, "hunter2") {
			t.Errorf("cardwall %v: status %d, printed %q and %q; want an error line with %q", bad.args, status, out,
				stderr, bad.want)
		}
	}
	for _, flags := range [][]string{{"--status", "99"}, {"--status", "600"}, {"--delay", "-1s"}, {"--delay", "1h"},
		{"--secret", "hunter2"}, {"--addr", "256.0.0.1:x"}} {
		if status, out, stderr := c.run("", append([]string{"webhook", "listen"}, flags...)...); status != 1 || out != "" ||
			strings.Count(stderr, "\n") != 1 || strings.Contains(stderr, "hunter2") {
			t.Errorf("webhook listen %v: status %d, printed %q and %q; want status 1 and one error line", flags, status, out, stderr)
		}
	}
}
