package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"cardwall/internal/hook"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// webhooksPage is the documentation for receivers. These tests run its commands
// and programs. UPDATE_GOLDEN=1 updates the responses that it shows.
const webhooksPage = "../../docs/webhooks.md"

// The Standard Webhooks library for Go accepts our signatures.
func TestSignaturesForTheLibrary(t *testing.T) {
	t.Parallel()
	secret, now := testSecret("a"), time.Now()
	signed, err := hook.Sign([]string{testSecret("b"), secret}, deliveryID, now.Unix(), []byte(delivery))
	if err != nil {
		t.Fatal(err)
	}
	webhook, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	header := http.Header{}
	header.Set(hook.HeaderID, deliveryID)
	header.Set(hook.HeaderTimestamp, strconv.FormatInt(now.Unix(), 10))
	header.Set(hook.HeaderSignature, signed)
	if err := webhook.Verify([]byte(delivery), header); err != nil {
		t.Error(err)
	}
	if webhook.Verify([]byte(delivery+" "), header) == nil {
		t.Error("a changed body was accepted")
	}
}

func TestWebhooksPage(t *testing.T) {
	t.Parallel()
	binary := filepath.Join(t.TempDir(), "cardwall")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	t.Run("tour", func(t *testing.T) { webhookTour(t, binary) })
	t.Run("receivers", func(t *testing.T) { webhookReceivers(t, binary) })
}

// missing skips a test whose requirements this machine lacks, or fails it in CI.
func missing(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s is missing", what)
	}
	t.Skipf("%s is missing", what)
}

// freeAddress returns a local address that is not in use. Its port is below the
// range of ephemeral ports on Linux, so no outgoing connection takes it before the
// server starts.
func freeAddress(t *testing.T) string {
	t.Helper()
	for range 1000 {
		l, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", 20_000+rand.IntN(10_000)))
		if err == nil {
			defer func() { _ = l.Close() }()
			return l.Addr().String()
		}
	}
	t.Fatal("every port is taken")
	return ""
}

// reachable waits until the server at an address is ready. It listens before it
// has its database.
func reachable(t *testing.T, address string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if r, err := http.Get("http://" + address + "/readyz"); err == nil {
			_ = r.Body.Close()
			if r.StatusCode == http.StatusOK {
				return
			}
		}
	}
	t.Fatalf("the server at %s does not become ready", address)
}

// listens waits until a server accepts connections at an address.
func listens(t *testing.T, address string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if c, err := net.Dial("tcp", address); err == nil {
			_ = c.Close()
			return
		}
	}
	t.Fatalf("nothing listens at %s", address)
}

// withoutSettings returns the environment without the settings of cardwall.
func withoutSettings(more ...string) (env []string) {
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "CARDWALL_") {
			env = append(env, e)
		}
	}
	return append(env, more...)
}

// start runs a program until the test ends, and kills it with all of its child processes.
func start(t *testing.T, cmd *exec.Cmd) (stdin io.WriteCloser, stdout *output) {
	t.Helper()
	stdout = &output{}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = stdout, t.Output()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // the group that it leads
		_ = cmd.Wait()
	})
	return stdin, stdout
}

// changing matches text that differs from run to run.
var changing = regexp.MustCompile(`(_)[0-9a-hjkmnp-tv-z]{26}|(whsec_)[0-9A-Za-z+/]{43}=|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`)

func unchanging(text string) string {
	return strings.TrimSpace(changing.ReplaceAllString(text, "${1}${2}…"))
}

// webhookTour runs the page's commands from top to bottom in one shell, and those of the second
// terminal in another, and compares their output with the page.
func webhookTour(t *testing.T, binary string) {
	for _, tool := range []string{"bash", "curl", "jq", "openssl"} {
		if _, err := exec.LookPath(tool); err != nil {
			missing(t, tool)
		}
	}
	page, err := os.ReadFile(webhooksPage)
	if err != nil {
		t.Fatal(err)
	}
	s := &tour{t: t, folder: t.TempDir(), server: freeAddress(t), receiver: freeAddress(t)}
	if err := os.Mkdir(filepath.Join(s.folder, "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(binary, filepath.Join(s.folder, "bin", "cardwall")); err != nil {
		t.Fatal(err)
	}
	s.stdin, s.stdout = s.shell()
	written := fence.ReplaceAllStringFunc(string(page), func(block string) string {
		m := fence.FindStringSubmatch(block)
		return "```" + m[1] + "\n" + s.block(m[1], m[2]) + "```\n"
	})
	if s.steps < 25 {
		t.Errorf("only %d commands were found", s.steps)
	}
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(webhooksPage, []byte(written), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

var (
	fence   = regexp.MustCompile("(?ms)^```(console|console second|text second)\n(.*?)^```\n")
	logged  = regexp.MustCompile(`(?m)^\{"time":.*\n`) // a terminal formats these lines differently
	command = regexp.MustCompile(`(?m)^\$ ((?:.*\\\n)*.*)\n?`)
)

// tour is a reader of the page with two terminals.
type tour struct {
	t                        *testing.T
	folder, server, receiver string
	stdin                    io.Writer
	stdout, second           *output
	steps                    int
}

func (s *tour) shell() (io.Writer, *output) {
	cmd := exec.CommandContext(context.WithoutCancel(s.t.Context()), "bash")
	cmd.Dir = s.folder
	cmd.Env = withoutSettings("CARDWALL_ADDR="+s.server, "CARDWALL_BASE_URL=http://"+s.server,
		"CARDWALL_WEBHOOK_LISTEN_ADDR="+s.receiver)
	return start(s.t, cmd)
}

// ours and theirs replace the page's addresses with those of this run, and back.
func (s *tour) ours(text string) string {
	return strings.NewReplacer("127.0.0.1:8080", s.server, "127.0.0.1:9000", s.receiver, "make build",
		"true").Replace(text)
}

func (s *tour) theirs(text string) string {
	return strings.NewReplacer(s.server, "127.0.0.1:8080", s.receiver, "127.0.0.1:9000").Replace(text)
}

// block runs a block and returns the text that the page should show.
func (s *tour) block(kind, text string) string {
	if kind == "text second" {
		return s.eventually("the second terminal", text, func() string { return s.second.String() })
	}
	var b strings.Builder
	found := command.FindAllStringSubmatchIndex(text, -1)
	for i, at := range found {
		end := len(text)
		if i+1 < len(found) {
			end = found[i+1][0]
		}
		line, want := text[at[2]:at[3]], text[at[1]:end]
		b.WriteString("$ " + line + "\n")
		s.steps++
		if kind == "console second" {
			var stdin io.Writer
			stdin, s.second = s.shell()
			_, _ = io.WriteString(stdin, s.ours(line)+"\n")
			listens(s.t, s.receiver)
			continue
		}
		if strings.HasSuffix(line, "&") {
			s.run(line)
			reachable(s.t, s.server)
			continue
		}
		if strings.Contains(line, "/deliveries") { // the delivery may still be in progress
			b.WriteString(s.eventually(line, want, func() string { return s.run(line) }))
			continue
		}
		got := s.run(line)
		s.compare(line, want, got)
		b.WriteString(got)
	}
	return b.String()
}

// run returns the output of a command in the first terminal.
func (s *tour) run(line string) string {
	s.t.Helper()
	before := len(s.stdout.String())
	mark := fmt.Sprintf("end of %d", s.steps)
	_, _ = fmt.Fprintf(s.stdin, "{ %s\n} 2>&1; printf '%%s\\n' '%s'\n", background(s.ours(line)), mark)
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		if got, _, done := strings.Cut(s.stdout.String()[before:], mark+"\n"); done {
			got = logged.ReplaceAllString(got, "")
			if got != "" && !strings.HasSuffix(got, "\n") {
				got += "\n"
			}
			return s.theirs(got)
		}
	}
	s.t.Fatalf("the command does not end: %s\n%s", line, s.stdout.String()[before:])
	return ""
}

// background redirects a server's log away from the terminal.
func background(line string) string {
	if rest, ok := strings.CutSuffix(line, "&"); ok {
		return rest + "2>server.log &"
	}
	return line
}

// eventually waits for the wanted text and returns the last one read.
func (s *tour) eventually(what, want string, look func() string) (got string) {
	s.t.Helper()
	updating := os.Getenv("UPDATE_GOLDEN") != ""
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		got = s.theirs(look())
		if done := unchanging(got) == unchanging(want); done && !updating ||
			updating && regexp.MustCompile(`"delivered"|(?m:^  }$)`).MatchString(got) {
			break
		}
	}
	s.compare(what, want, got)
	return got
}

func (s *tour) compare(what, want, got string) {
	s.t.Helper()
	if os.Getenv("UPDATE_GOLDEN") == "" && unchanging(got) != unchanging(want) {
		s.t.Errorf("%s\nprints\n%s\nthe page says\n%s", what, got, want)
	}
}
