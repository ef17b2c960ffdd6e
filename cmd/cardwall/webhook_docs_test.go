package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"cardwall/internal/apptest"
	"cardwall/internal/hook"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// webhooksPage is the documentation page for receivers. These tests run its commands
// and programs. With UPDATE_GOLDEN=1, they update the output on the page.
const webhooksPage = "../../docs/webhooks.md"

// The Standard Webhooks library for Go accepts the signatures.
func TestStandardWebhooksLibraryAcceptsSignatures(t *testing.T) {
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
		t.Error("the library accepted a delivery with a changed body")
	}
}

func TestWebhooksPage(t *testing.T) {
	t.Parallel()
	binary := program(t)
	t.Run("tour", func(t *testing.T) { webhookTour(t, binary) })
	t.Run("receivers", func(t *testing.T) { webhookReceivers(t, binary) })
}

// missing skips the test because this machine lacks a requirement. In CI, it fails the test instead.
func missing(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s is missing", what)
	}
	t.Skipf("%s is missing", what)
}

// waitUntilListening waits until a server accepts connections at an address.
func waitUntilListening(t *testing.T, address string) {
	t.Helper()
	apptest.Eventually(t, "a server listens at "+address, func() bool {
		c, err := net.Dial("tcp", address)
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	})
}

// envWithoutSettings returns the environment without Cardwall's settings, plus the
// given variables.
func envWithoutSettings(more ...string) (env []string) {
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "CARDWALL_") {
			env = append(env, e)
		}
	}
	return append(env, more...)
}

// start starts a program. At the end of the test, it is killed with all of its child processes.
func start(t *testing.T, cmd *exec.Cmd) (stdin io.WriteCloser, stdout *apptest.Buffer) {
	t.Helper()
	stdout = &apptest.Buffer{}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = stdout, t.Output()
	cmd.WaitDelay = time.Second
	apptest.Start(t, cmd)
	return stdin, stdout
}

// variable matches text that differs between runs.
var variable = regexp.MustCompile(`(_)[0-9a-hjkmnp-tv-z]{26}|(whsec_)[0-9A-Za-z+/]{43}=|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`)

// normalize removes the text that differs between runs.
func normalize(text string) string {
	return strings.TrimSpace(variable.ReplaceAllString(text, "${1}${2}…"))
}

// webhookTour runs the commands of the page from top to bottom, and compares their output with the
// page. Commands for the second terminal run in a second shell.
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
	s := &tour{t: t, folder: t.TempDir(), server: apptest.ReserveAddress(t), receiver: apptest.ReserveAddress(t)}
	if err := os.Mkdir(filepath.Join(s.folder, "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(binary, filepath.Join(s.folder, "bin", "cardwall")); err != nil {
		t.Fatal(err)
	}
	s.stdin, s.stdout = s.shell()
	updated := fence.ReplaceAllStringFunc(string(page), func(block string) string {
		m := fence.FindStringSubmatch(block)
		return "```" + m[1] + "\n" + s.block(m[1], m[2]) + "```\n"
	})
	if s.steps < 25 {
		t.Errorf("found %d commands on the page, want at least 25", s.steps)
	}
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(webhooksPage, []byte(updated), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

var (
	fence   = regexp.MustCompile("(?ms)^```(console|console second|text second)\n(.*?)^```\n")
	logged  = regexp.MustCompile(`(?m)^\{"time":.*\n`) // log lines, which look different on a terminal
	command = regexp.MustCompile(`(?m)^\$ ((?:.*\\\n)*.*)\n?`)
)

// tour runs the commands of the page in two shells.
type tour struct {
	t                        *testing.T
	folder, server, receiver string
	stdin                    io.Writer
	stdout, second           *apptest.Buffer // output of the first and the second shell
	steps                    int             // number of commands run
}

// shell starts a shell whose environment contains the addresses of this run.
func (s *tour) shell() (io.Writer, *apptest.Buffer) {
	cmd := exec.CommandContext(context.WithoutCancel(s.t.Context()), "bash")
	cmd.Dir = s.folder
	cmd.Env = envWithoutSettings("CARDWALL_ADDR="+s.server, "CARDWALL_BASE_URL=http://"+s.server,
		"CARDWALL_WEBHOOK_LISTEN_ADDR="+s.receiver)
	return start(s.t, cmd)
}

// toLocal replaces the addresses of the page with those of this run.
func (s *tour) toLocal(text string) string {
	return strings.NewReplacer("127.0.0.1:8080", s.server, "127.0.0.1:9000", s.receiver, "make build",
		"true").Replace(text)
}

// toPage replaces the addresses of this run with those of the page.
func (s *tour) toPage(text string) string {
	return strings.NewReplacer(s.server, "127.0.0.1:8080", s.receiver, "127.0.0.1:9000").Replace(text)
}

// block runs the commands of a code block and returns the block with their output. A block of kind
// "text second" has no commands and shows the output of the second shell.
func (s *tour) block(kind, text string) string {
	if kind == "text second" {
		return s.await("the second terminal", text, func() string { return s.second.String() })
	}
	var b strings.Builder
	found := command.FindAllStringSubmatchIndex(text, -1)
	for i, match := range found {
		end := len(text)
		if i+1 < len(found) {
			end = found[i+1][0]
		}
		line, want := text[match[2]:match[3]], text[match[1]:end]
		b.WriteString("$ " + line + "\n")
		s.steps++
		if kind == "console second" {
			var stdin io.Writer
			stdin, s.second = s.shell()
			_, _ = io.WriteString(stdin, s.toLocal(line)+"\n")
			waitUntilListening(s.t, s.receiver)
			continue
		}
		if strings.HasSuffix(line, "&") {
			s.run(line)
			apptest.Eventually(s.t, "the server is ready", func() bool { return readyz("http://"+s.server) == http.StatusOK })
			continue
		}
		if strings.Contains(line, "/deliveries") { // the delivery may still be in progress
			b.WriteString(s.await(line, want, func() string { return s.run(line) }))
			continue
		}
		got := s.run(line)
		s.compare(line, want, got)
		b.WriteString(got)
	}
	return b.String()
}

// run runs a command in the first shell and returns its output.
func (s *tour) run(line string) string {
	s.t.Helper()
	start := len(s.stdout.String())
	marker := fmt.Sprintf("end of %d", s.steps)
	_, _ = fmt.Fprintf(s.stdin, "{ %s\n} 2>&1; printf '%%s\\n' '%s'\n", background(s.toLocal(line)), marker)
	got := apptest.Await(s.t, "the command "+line+" ends", func() (got string, done bool) {
		got, _, done = strings.Cut(s.stdout.String()[start:], marker+"\n")
		return got, done
	})
	got = logged.ReplaceAllString(got, "")
	if got != "" && !strings.HasSuffix(got, "\n") {
		got += "\n"
	}
	return s.toPage(got)
}

// background redirects the log of a server that runs in the background to a file.
func background(line string) string {
	if rest, ok := strings.CutSuffix(line, "&"); ok {
		return rest + "2>server.log &"
	}
	return line
}

// await calls output until the result matches want, and returns it. While the page is being updated,
// it instead waits until the result looks complete.
func (s *tour) await(what, want string, output func() string) (got string) {
	s.t.Helper()
	updating := os.Getenv("UPDATE_GOLDEN") != ""
	return apptest.Await(s.t, what+" prints:\n"+want, func() (got string, done bool) {
		got = s.toPage(output())
		if updating {
			return got, regexp.MustCompile(`"delivered"|(?m:^  }$)`).MatchString(got)
		}
		return got, normalize(got) == normalize(want)
	})
}

// compare fails the test if the output differs from the page, unless the page is being updated.
func (s *tour) compare(what, want, got string) {
	s.t.Helper()
	if os.Getenv("UPDATE_GOLDEN") == "" && normalize(got) != normalize(want) {
		s.t.Errorf("%s\nprinted\n%s\nwant\n%s", what, got, want)
	}
}
