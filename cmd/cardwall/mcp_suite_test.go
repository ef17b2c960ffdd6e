package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	mcpPage        = "../../docs/mcp.md"
	mcpUnsupported = "testdata/mcp-unsupported.txt"
)

// TestConformanceOfMCP runs the official conformance suite against the program, built with the
// fixtures that the suite calls. Checks that fail must be listed in
// testdata/mcp-unsupported.txt with a reason, and listed checks must fail. The section "Proof"
// of docs/mcp.md shows the result; UPDATE_GOLDEN=1 writes it.
func TestConformanceOfMCP(t *testing.T) {
	t.Parallel()
	modules := mcpModules(t)
	binary := build(t, "-tags", "conformance")
	unsupported := readUnsupported(t)
	results := map[string]*suiteResult{}
	t.Run("suite", func(t *testing.T) {
		for _, revision := range []string{"2025-11-25", "2026-07-28", "authorization"} {
			r := &suiteResult{t: t, unsupported: unsupported[revision], outcomes: map[string]outcome{}}
			results[revision] = r
			t.Run(revision, func(t *testing.T) {
				t.Parallel()
				r.t = t
				if revision == "authorization" {
					r.authorization(modules, binary)
				} else {
					r.revision(modules, binary, revision)
				}
				r.compare()
			})
		}
	})
	whole := true // -run may have selected only a part
	for _, r := range results {
		whole = whole && len(r.outcomes) > 0
	}
	if whole && !t.Failed() {
		compareProof(t, modules, unsupported, results)
	}
}

// build builds the program.
func build(t *testing.T, flags ...string) (binary string) {
	t.Helper()
	binary = filepath.Join(t.TempDir(), "cardwall")
	args := append(append([]string{"build"}, flags...), "-o", binary, ".")
	if out, err := exec.CommandContext(t.Context(), "go", args...).CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return binary
}

// mcpModules returns the folder of the npm packages of the suite and the clients, which make
// installs.
func mcpModules(t *testing.T) string {
	t.Helper()
	folder, err := filepath.Abs("../../tools/mcp/node_modules")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(folder, ".installed")); err == nil {
		return folder
	}
	if out, err := exec.CommandContext(t.Context(), "make", "-C", "../..",
		"tools/mcp/node_modules/.installed").CombinedOutput(); err != nil {
		t.Logf("make: %v\n%s", err, out)
		missing(t, "what tools/mcp/package.json names")
	}
	return folder
}

// node returns a JavaScript program with its own home folder and no browser. It and its child
// processes end after five minutes.
func node(t *testing.T, modules string, env []string, args ...string) *exec.Cmd {
	t.Helper()
	binaries, err := filepath.Glob(filepath.Join(modules, "node-*", "bin", "node"))
	if err != nil || len(binaries) != 1 {
		missing(t, "Node.js for this machine among the packages")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, binaries[0], args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	home := t.TempDir()
	cmd.Dir = home
	cmd.Env = append(withoutSettings("HOME="+home, "BROWSER=false", "DISPLAY=", "NO_COLOR=1"), env...)
	return cmd
}

// mcpServer is a running server, with a person who has a workspace, a token and a password.
type mcpServer struct {
	t                      *testing.T
	base, workspace, token string
	browser                *http.Client // the person is signed in here
}

const mcpPassword = "a fine engine of brass"

// serveMCP starts a server on an address, with the given base URL.
func serveMCP(t *testing.T, binary, address, base string) *mcpServer {
	t.Helper()
	c := cli{t, t.TempDir()}
	if status, _, problems := c.run(mcpPassword+"\n", "user", "add", "--email", "ada@example.com", "--name", "Ada",
		"--password-stdin"); status != 0 {
		t.Fatal(problems)
	}
	s := &mcpServer{t: t, base: base}
	s.workspace = c.must("workspace", "add", "--owner", "ada@example.com", "--name", "Engines")
	c.must("org", "plan", strings.Fields(c.must("org", "list"))[0], "business")
	s.token = c.must("token", "add", "--user", "ada@example.com", "--name", "mcp", "--scopes", "read,write,admin")
	cmd := exec.CommandContext(t.Context(), binary, "serve", "--data", c.data, "--addr", address, "--base-url", base)
	cmd.Env = withoutSettings()
	start(t, cmd)
	reachable(t, address)
	return s
}

// serveForSuite starts a server behind a proxy that adds the token to requests without one,
// because the suite does not support tokens.
func serveForSuite(t *testing.T, binary string) *mcpServer {
	t.Helper()
	address := freeAddress(t)
	var s *mcpServer
	proxy := httptest.NewServer(&httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(&url.URL{Scheme: "http", Host: address})
		r.Out.Host = r.In.Host
		// Read the whole body first: the proxy's server closes a request body when the response
		// begins, and a proxy that is still reading it then truncates the response.
		body, _ := io.ReadAll(r.In.Body)
		r.Out.Body = io.NopCloser(bytes.NewReader(body))
		if r.In.Header.Get("Authorization") == "" {
			r.Out.Header.Set("Authorization", "Bearer "+s.token)
		}
	}})
	t.Cleanup(proxy.Close)
	s = serveMCP(t, binary, address, proxy.URL)
	return s
}

// outcome is the result of one check.
type outcome struct{ status, problem string }

// suiteResult is the result of the suite for one revision, by "scenario check".
type suiteResult struct {
	t           *testing.T
	unsupported map[string]string // listed status
	outcomes    map[string]outcome
	passed      int
}

func (r *suiteResult) revision(modules, binary, revision string) {
	s := serveForSuite(r.t, binary)
	folder, out := r.run(modules, "server", "--url", s.base+"/mcp", "--requirements", revision)
	r.read(folder, "server-")
	for _, scenario := range required(r.t, modules, revision) {
		r.ran(scenario, out)
	}
}

// ran fails the test unless a scenario reported a result.
func (r *suiteResult) ran(scenario, out string) {
	r.t.Helper()
	for key := range r.outcomes {
		if strings.HasPrefix(key, scenario+" ") {
			return
		}
	}
	r.t.Errorf("%s did not run:\n%s", scenario, out)
}

// run runs a command of the suite, whose exit status counts what is expected to
// fail too.
// authorization runs the suite's authorization scenarios with a person's consent, as a client
// that registered itself.
func (r *suiteResult) authorization(modules, binary string) {
	address := freeAddress(r.t)
	s := serveMCP(r.t, binary, address, "http://"+address)
	s.signIn()
	callback := freeAddress(r.t)
	_, port, _ := strings.Cut(callback, ":")
	registered, err := s.browser.Post(s.base+"/oauth/register", "application/json", strings.NewReader(
		`{"client_name":"Conformance suite","redirect_uris":["http://`+callback+
			`/callback"],"token_endpoint_auth_method":"none"}`))
	if err != nil {
		r.t.Fatal(err)
	}
	defer func() { _ = registered.Body.Close() }()
	var client struct {
		ID string `json:"client_id"`
	}
	if err := json.NewDecoder(registered.Body).Decode(&client); err != nil || client.ID == "" {
		r.t.Fatalf("register: %d %v", registered.StatusCode, err)
	}
	folder := r.t.TempDir()
	v := visitor{t: r.t, mcpServer: s, byConsent: true}
	v.run(node(r.t, modules, nil, suiteProgram(modules), "authorization", "--url", s.base, "--client-id", client.ID,
		"--resource", s.base+"/mcp", "--port", port, "--output-dir", folder))
	r.read(folder, "authorization-server-")
	for _, scenario := range []string{"authorization-server-metadata-endpoint", "authorization-code-grant"} {
		r.ran(scenario, string(v.out))
	}
}

// run runs a command of the suite. Its exit status is ignored, because it also counts expected
// failures.
func (r *suiteResult) run(modules string, args ...string) (results, out string) {
	r.t.Helper()
	results = r.t.TempDir()
	cmd := node(r.t, modules, nil, append([]string{suiteProgram(modules)}, append(args, "--output-dir", results)...)...)
	text, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState.ExitCode() != 1 {
		r.t.Fatalf("the suite: %v\n%s", err, text)
	}
	return results, string(text)
}

func suiteProgram(modules string) string {
	return filepath.Join(modules, "@modelcontextprotocol", "conformance", "dist", "index.js")
}

// required returns the scenarios that a revision requires of a server.
func required(t *testing.T, modules, revision string) (scenarios []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(modules, "@modelcontextprotocol", "conformance", "requirements",
		revision+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "\nserver:\n")
	list, _, _ := strings.Cut(rest, "\n\n")
	for line := range strings.Lines(list) {
		scenarios = append(scenarios, strings.TrimPrefix(strings.TrimSpace(line), "- "))
	}
	if len(scenarios) < 30 {
		t.Fatalf("the suite requires only %q", scenarios)
	}
	return scenarios
}

// ranAt matches the end of the name of a scenario's folder.
var ranAt = regexp.MustCompile(`-\d{4}-\d\d-\d\dT[\dTZ-]+$`)

// severity orders the results of a check that ran twice. INFO is not a result.
var severity = []string{"SUCCESS", "SKIPPED", "WARNING", "FAILURE"}

func (r *suiteResult) read(folder, prefix string) {
	r.t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*", "checks.json"))
	if err != nil || len(files) == 0 {
		r.t.Fatalf("the suite left no results: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			r.t.Fatal(err)
		}
		var checks []struct{ ID, Status, ErrorMessage string }
		if err := json.Unmarshal(text, &checks); err != nil {
			r.t.Fatal(err)
		}
		scenario := strings.TrimPrefix(ranAt.ReplaceAllString(filepath.Base(filepath.Dir(file)), ""), prefix)
		for _, c := range checks {
			key := scenario + " " + c.ID
			if before, ok := r.outcomes[key]; slices.Contains(severity, c.Status) &&
				(!ok || slices.Index(severity, c.Status) > slices.Index(severity, before.status)) {
				r.outcomes[key] = outcome{c.Status, c.ErrorMessage}
			}
		}
	}
}

// compare compares the suite's results with the list.
func (r *suiteResult) compare() {
	for key, o := range r.outcomes {
		if o.status == "SUCCESS" {
			r.passed++
		}
		if listed := r.unsupported[key]; o.status != "SUCCESS" && listed != o.status {
			r.t.Errorf("%s: %s, listed as %q: %s", key, o.status, listed, o.problem)
		}
	}
	for key, status := range r.unsupported {
		if r.outcomes[key].status != status {
			r.t.Errorf("%s is listed as %s in %s but the result is %q: remove it from the list", key, status, mcpUnsupported,
				r.outcomes[key].status)
		}
	}
}

// reason is one paragraph of the list.
type reason struct {
	text      string
	scenarios []string
}

// unsupportedChecks are the listed checks, by revision and "scenario check".
type unsupportedChecks map[string]map[string]string

// readUnsupported reads the list. Each reason is on its own line; the checks that it explains
// follow, indented: revision, outcome, scenario, check.
func readUnsupported(t *testing.T) unsupportedChecks {
	t.Helper()
	listed := unsupportedChecks{}
	reasons(t, func(_, revision, status, scenario, check string) {
		if listed[revision] == nil {
			listed[revision] = map[string]string{}
		}
		listed[revision][scenario+" "+check] = status
	})
	return listed
}

func reasons(t *testing.T, each func(reason, revision, status, scenario, check string)) {
	t.Helper()
	f, err := os.Open(mcpUnsupported)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	why := ""
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := lines.Text()
		fields := strings.Fields(line)
		switch {
		case line == "":
		case !strings.HasPrefix(line, "\t"):
			why = line
		case len(fields) != 4 || why == "":
			t.Fatalf("%s: not a check with a reason: %q", mcpUnsupported, line)
		default:
			each(why, fields[0], fields[1], fields[2], fields[3])
		}
	}
}

// compareProof compares the section "Proof" of the page with the results.
func compareProof(t *testing.T, modules string, listed unsupportedChecks, results map[string]*suiteResult) {
	var b strings.Builder
	fmt.Fprintf(&b, "## Proof\n\n`make test` runs the official conformance suite (`@modelcontextprotocol/conformance`\n"+
		"%s). The suite calls its own tools, resources and prompts, so it runs against a build\n"+
		"that contains them (`go build -tags conformance`, `internal/conformance`). Released programs don't.\n"+
		"The handler, the tokens and the limits are the same in both builds:\n\n| part of the suite | checks passed | not "+
		"supported |\n|---|---|---|\n", packageVersion(t, modules, "@modelcontextprotocol/conformance"))
	for _, revision := range slices.Sorted(maps.Keys(results)) {
		fmt.Fprintf(&b, "| %s | %d | %d |\n", revision, results[revision].passed, len(listed[revision]))
	}
	b.WriteString("\nCardwall does not support these scenarios of the suite. They are listed " +
		"in\n`cmd/cardwall/testdata/mcp-unsupported.txt`. The tests fail if another check fails, or if a listed\none passes.\n\n| " +
		"scenario | why not |\n|---|---|\n")
	var all []reason
	reasons(t, func(why, _, _, scenario, _ string) {
		if len(all) == 0 || all[len(all)-1].text != why {
			all = append(all, reason{text: why})
		}
		last := &all[len(all)-1]
		if name := "`" + scenario + "`"; !slices.Contains(last.scenarios, name) {
			last.scenarios = append(last.scenarios, name)
		}
	})
	for _, r := range all {
		fmt.Fprintf(&b, "| %s | %s |\n", strings.Join(r.scenarios, ", "), r.text)
	}
	b.WriteString("\nThe same tests connect these clients, with a token and with a person's consent, and make the calls\nthat an " +
		"agent would make:\n\n| client | version |\n|---|---|\n")
	for _, name := range []string{"@modelcontextprotocol/inspector", "@modelcontextprotocol/sdk",
		"@modelcontextprotocol/client", "mcp-remote"} {
		fmt.Fprintf(&b, "| `%s` | %s |\n", name, packageVersion(t, modules, name))
	}
	page, err := os.ReadFile(mcpPage)
	if err != nil {
		t.Fatal(err)
	}
	before, after, found := strings.Cut(string(page), "## Proof\n")
	if !found {
		t.Fatalf("%s has no section Proof", mcpPage)
	}
	_, next, more := strings.Cut(after, "\n## ")
	if more {
		next = "\n## " + next
	}
	want := before + b.String() + next
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(mcpPage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(page) {
		t.Errorf("%s differs from the suite's results; UPDATE_GOLDEN=1 updates it to:\n%s", mcpPage, b.String())
	}
}

func packageVersion(t *testing.T, modules, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(modules, name, "package.json"))
	if err != nil {
		t.Fatal(err)
	}
	var about struct{ Version string }
	if err := json.Unmarshal(text, &about); err != nil {
		t.Fatal(err)
	}
	return about.Version
}
