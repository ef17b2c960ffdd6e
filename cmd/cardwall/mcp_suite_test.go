package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
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

	"cardwall/internal/apptest"
)

// suiteBuilds are the builds of the program that the suite runs against, with the parts of the
// suite that run. Authorization uses no fixtures, so it runs only against the program.
var suiteBuilds = []struct {
	name  string
	flags []string // flags of go build
	parts []string
	lists []string // files that list the checks that do not succeed
}{
	{"program", nil, []string{"2025-11-25", "2026-07-28", "authorization"}, []string{mcpUnsupported, mcpFixtures}},
	{"with fixtures", []string{"-tags", "conformance"}, []string{"2025-11-25", "2026-07-28"}, []string{mcpUnsupported}},
}

// TestMCPConformance runs the official conformance suite against the program that people run, and
// against a build that contains the fixtures that the suite calls. Checks that do not succeed must
// be listed with a status and a reason, and listed checks must have that status. The list
// testdata/mcp-unsupported.txt applies to both builds. testdata/mcp-fixtures.txt lists the checks
// that need a fixture and applies to the program. The "Check conformance" section of docs/mcp.md
// shows the result. With UPDATE_GOLDEN=1, the test rewrites the section. Most of its time, it builds
// the program twice and waits for the suite.
func TestMCPConformance(t *testing.T) {
	t.Parallel()
	modules := mcpModules(t)
	var results []*suiteResult
	t.Run("suite", func(t *testing.T) {
		for _, build := range suiteBuilds {
			unsupported := readUnsupported(t, build.lists...)
			for _, part := range build.parts {
				r := &suiteResult{part: part, build: build.name, unsupported: unsupported[part], outcomes: map[string]outcome{}}
				results = append(results, r)
				t.Run(part+", "+build.name, func(t *testing.T) {
					t.Parallel()
					r.t = t
					binary := program(t, build.flags...)
					if part == "authorization" {
						r.authorization(modules, binary)
					} else {
						r.revision(modules, binary, part)
					}
					r.compare()
				})
			}
		}
	})
	complete := true // false if -run selects only part of the suite
	for _, r := range results {
		complete = complete && len(r.outcomes) > 0
	}
	if complete && !t.Failed() {
		compareConformance(t, modules, results)
	}
}

// mcpModules returns the folder with the npm packages of the suite and the clients. If the packages are
// not installed, it installs them with make. If that fails, the test is skipped, or fails in CI.
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
		missing(t, "the npm packages of tools/mcp")
	}
	return folder
}

// node returns a command that runs a JavaScript program with a new home folder and without a browser.
// The program and its child processes are killed shortly before the deadline of the test, so that the
// test can still show their output.
func node(t *testing.T, modules string, env []string, args ...string) *exec.Cmd {
	t.Helper()
	binaries, err := filepath.Glob(filepath.Join(modules, "node-*", "bin", "node"))
	if err != nil || len(binaries) != 1 {
		missing(t, "the Node.js package for this machine")
	}
	ctx := t.Context()
	if deadline, limited := t.Deadline(); limited {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline.Add(-30*time.Second))
		t.Cleanup(cancel)
	}
	cmd := exec.CommandContext(ctx, binaries[0], args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error {
		group, err := syscall.Getpgid(cmd.Process.Pid)
		if err != nil {
			return err
		}
		return syscall.Kill(-group, syscall.SIGKILL)
	}
	cmd.WaitDelay = time.Second
	home := t.TempDir()
	cmd.Dir = home
	cmd.Env = append(envWithoutSettings("HOME="+home, "BROWSER=false", "DISPLAY=", "NO_COLOR=1"), env...)
	return cmd
}

// mcpServer is a running server with a person who has a workspace, a token and a password.
type mcpServer struct {
	t                      *testing.T
	base, workspace, token string
}

const mcpPassword = "a fine engine of brass"

// serveMCP starts a server with the given address and base URL.
func serveMCP(t *testing.T, binary, address, base string) *mcpServer {
	t.Helper()
	c := cli{t, t.TempDir()}
	if status, _, stderr := c.run(mcpPassword+"\n", "user", "add", "--email", "ada@example.com", "--name", "Ada",
		"--password-stdin"); status != 0 {
		t.Fatal(stderr)
	}
	s := &mcpServer{t: t, base: base}
	s.workspace = c.must("workspace", "add", "--owner", "ada@example.com", "--name", "Engines")
	c.must("org", "plan", strings.Fields(c.must("org", "list"))[0], "business")
	s.token = c.must("token", "add", "--user", "ada@example.com", "--name", "mcp", "--scopes", "read,write,admin")
	startProcess(t, binary, "--data", c.data, "--addr", address, "--base-url", base)
	return s
}

// serveForSuite starts a server behind a proxy. The suite does not support tokens, so the proxy adds
// the token to requests without one. The person has starred a board, so that the list of resources is
// not empty.
func serveForSuite(t *testing.T, binary string) *mcpServer {
	t.Helper()
	address := apptest.ReserveAddress(t)
	proxy := httptest.NewUnstartedServer(nil)
	t.Cleanup(proxy.Close)
	s := serveMCP(t, binary, address, "http://"+proxy.Listener.Addr().String())
	proxy.Config.Handler = &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(&url.URL{Scheme: "http", Host: address})
		r.Out.Host = r.In.Host
		// Read the whole body first. The HTTP server closes a request body when the response
		// begins. If the proxy were still reading the body, it would truncate the response.
		body, _ := io.ReadAll(r.In.Body)
		r.Out.Body = io.NopCloser(bytes.NewReader(body))
		if r.In.Header.Get("Authorization") == "" {
			r.Out.Header.Set("Authorization", "Bearer "+s.token)
		}
	}}
	proxy.Start()
	browser := s.signIn(t)
	b := s.callAPI(t, browser, "POST /public/v1/boards", map[string]any{"workspaceId": s.workspace, "name": "Engines"})
	s.callAPI(t, browser, fmt.Sprintf("PUT /app/v1/boards/%v/star", b["id"]), nil)
	return s
}

// outcome is the result of one check.
type outcome struct{ status, problem string }

// suiteResult holds the results of one part of the suite for one build. A part is a revision of the
// protocol, or authorization. The keys of the maps have the form "scenario check".
type suiteResult struct {
	t           *testing.T
	part, build string
	unsupported map[string]string // expected status of each unsupported check
	outcomes    map[string]outcome
	passed      int
}

// revision runs the scenarios that a revision of the protocol requires of a server.
func (r *suiteResult) revision(modules, binary, revision string) {
	s := serveForSuite(r.t, binary)
	folder, out := r.run(modules, "server", "--url", s.base+"/mcp", "--requirements", revision)
	r.read(folder, "server-")
	for _, scenario := range required(r.t, modules, revision) {
		r.requireRun(scenario, out)
	}
}

// requireRun fails the test if a scenario reported no result.
func (r *suiteResult) requireRun(scenario, out string) {
	r.t.Helper()
	for key := range r.outcomes {
		if strings.HasPrefix(key, scenario+" ") {
			return
		}
	}
	r.t.Errorf("%s did not run:\n%s", scenario, out)
}

// authorization registers a client, gives it a person's consent and runs the suite's authorization
// scenarios as this client.
func (r *suiteResult) authorization(modules, binary string) {
	address := apptest.ReserveAddress(r.t)
	s := serveMCP(r.t, binary, address, "http://"+address)
	callback := apptest.ReserveAddress(r.t)
	_, port, _ := strings.Cut(callback, ":")
	registration, err := http.Post(s.base+"/oauth/register", "application/json", strings.NewReader(
		`{"client_name":"Conformance suite","redirect_uris":["http://`+callback+
			`/callback"],"token_endpoint_auth_method":"none"}`))
	if err != nil {
		r.t.Fatal(err)
	}
	defer func() { _ = registration.Body.Close() }()
	var client struct {
		ID string `json:"client_id"`
	}
	if err := json.NewDecoder(registration.Body).Decode(&client); err != nil || client.ID == "" {
		r.t.Fatalf("register: %d %v", registration.StatusCode, err)
	}
	folder := r.t.TempDir()
	v := mcpClient{t: r.t, mcpServer: s, byConsent: true}
	v.run(node(r.t, modules, nil, suiteProgram(modules), "authorization", "--url", s.base, "--client-id", client.ID,
		"--resource", s.base+"/mcp", "--port", port, "--output-dir", folder))
	r.read(folder, "authorization-server-")
	for _, scenario := range []string{"authorization-server-metadata-endpoint", "authorization-code-grant"} {
		r.requireRun(scenario, string(v.stdout))
	}
}

// run runs a command of the suite, and returns the folder with the results and the output. It accepts
// exit status 1, because the suite also counts expected failures.
func (r *suiteResult) run(modules string, args ...string) (results, out string) {
	r.t.Helper()
	results = r.t.TempDir()
	cmd := node(r.t, modules, nil, append([]string{suiteProgram(modules)}, append(args, "--output-dir", results)...)...)
	text, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState.ExitCode() != 1 {
		r.t.Fatalf("run the suite: %v\n%s", err, text)
	}
	return results, string(text)
}

// suiteProgram returns the path of the suite's command.
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
		t.Fatalf("the suite requires scenarios %q, want at least 30", scenarios)
	}
	return scenarios
}

// folderTime matches the time at the end of a folder name.
var folderTime = regexp.MustCompile(`-\d{4}-\d\d-\d\dT[\dTZ-]+$`)

// severity lists the statuses of checks from best to worst. Other statuses, such as INFO, are
// ignored. If a check runs twice, the worse status counts.
var severity = []string{"SUCCESS", "SKIPPED", "WARNING", "FAILURE"}

// read reads the results in a folder. The folder contains one folder for each scenario, whose
// name begins with prefix.
func (r *suiteResult) read(folder, prefix string) {
	r.t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*", "checks.json"))
	if err != nil || len(files) == 0 {
		r.t.Fatalf("the suite wrote no results: %v", err)
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
		scenario := strings.TrimPrefix(folderTime.ReplaceAllString(filepath.Base(filepath.Dir(file)), ""), prefix)
		for _, c := range checks {
			key := scenario + " " + c.ID
			if earlier, ok := r.outcomes[key]; slices.Contains(severity, c.Status) &&
				(!ok || slices.Index(severity, c.Status) > slices.Index(severity, earlier.status)) {
				r.outcomes[key] = outcome{c.Status, c.ErrorMessage}
			}
		}
	}
}

// compare compares the suite's results with the list of unsupported checks.
func (r *suiteResult) compare() {
	for key, o := range r.outcomes {
		if o.status == "SUCCESS" {
			r.passed++
		}
		if listed := r.unsupported[key]; o.status != "SUCCESS" && listed != o.status {
			r.t.Errorf("%s: got status %s, listed as %q; want SUCCESS or the listed status: %s", key, o.status, listed, o.problem)
		}
	}
	for key, status := range r.unsupported {
		if r.outcomes[key].status != status {
			r.t.Errorf("%s is listed as %s, but its status is %q; correct the list in testdata", key, status, r.outcomes[key].status)
		}
	}
}
