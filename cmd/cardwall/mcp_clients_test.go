package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"cardwall/internal/apptest"
)

// TestMCPClients connects popular MCP clients to the server, with a token and with a person's
// consent. The clients make the calls that an agent makes (see tools/mcp/visit.mjs). In the names
// of the subtests, the legacy era is protocol version 2025-11-25, and the modern era is 2026-07-28.
// The test starts more than twenty Node.js programs, which takes most of its time.
func TestMCPClients(t *testing.T) {
	t.Parallel()
	modules := mcpModules(t)
	address := apptest.ReserveAddress(t)
	s := serveMCP(t, program(t), address, "http://"+address)
	scripts := filepath.Dir(modules)
	t.Run("clients", func(t *testing.T) {
		for name, c := range map[string]struct {
			script   string
			args     []string
			protocol string // negotiated version; empty if the client does not report it
		}{
			"sdk":                    {script: "sdk.mjs", protocol: "2025-11-25"},
			"client, legacy era":     {script: "client.mjs", args: []string{"legacy"}, protocol: "2025-11-25"},
			"client, either era":     {script: "client.mjs", args: []string{"auto"}, protocol: "2026-07-28"},
			"client, modern era":     {script: "client.mjs", args: []string{"2026-07-28"}, protocol: "2026-07-28"},
			"mcp-remote, legacy era": {script: "remote.mjs"},
			"mcp-remote, modern era": {script: "remote.mjs", args: []string{"--protocol", "auto"}},
		} {
			for _, auth := range []string{"token", "consent"} {
				t.Run(name+", "+auth, func(t *testing.T) {
					t.Parallel()
					v := mcpClient{t: t, mcpServer: s, byConsent: auth == "consent"}
					title := name + ", " + auth
					v.run(node(t, modules, v.environment(),
						append([]string{filepath.Join(scripts, c.script), s.base + "/mcp", title}, c.args...)...))
					report := v.report()
					v.check(report, title)
					if report.Protocol != c.protocol {
						t.Errorf("got protocol version %q, want %q", report.Protocol, c.protocol)
					}
					if v.byConsent && c.protocol != "" && !report.Refreshed {
						t.Error("the client did not refresh its access token")
					}
					// The first-generation SDK refreshes the token instead, which does not add a scope.
					if v.byConsent && c.script == "client.mjs" && !report.SteppedUp {
						t.Error("the client did not ask the person for a missing scope")
					}
				})
			}
		}
		for _, era := range []string{"legacy", "modern"} {
			for _, auth := range []string{"token", "consent"} {
				t.Run("inspector, "+era+" era, "+auth, func(t *testing.T) {
					t.Parallel()
					v := mcpClient{t: t, mcpServer: s, byConsent: auth == "consent"}
					v.inspect(modules, era)
				})
			}
		}
	})
}

// signIn signs the person in with a new browser.
func (s *mcpServer) signIn(t *testing.T) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	s.callAPI(t, browser, "POST /app/v1/sign-in", map[string]any{"email": "ada@example.com", "password": mcpPassword})
	return browser
}

// callAPI calls an operation of an API with the browser's session. The operation is a method and a path.
// An operation without input takes no body.
func (s *mcpServer) callAPI(t *testing.T, browser *http.Client, operation string, input map[string]any) (data map[string]any) {
	t.Helper()
	method, path, _ := strings.Cut(operation, " ")
	var body []byte
	if input != nil {
		var err error
		if body, err = json.Marshal(input); err != nil {
			t.Fatal(err)
		}
	}
	r, err := http.NewRequestWithContext(t.Context(), method, s.base+"/api"+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Origin", s.base)
	res, err := browser.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	var envelope struct{ Data map[string]any }
	if err != nil || json.Unmarshal(text, &envelope) != nil || res.StatusCode/100 != 2 {
		t.Fatalf("%s: got status %d, body %s, error %v; want success", operation, res.StatusCode, text, err)
	}
	return envelope.Data
}

// consent grants the requested scopes at the address that a client shows, and follows the redirect
// back to the client.
func (s *mcpServer) consent(t *testing.T, address string) {
	t.Helper()
	redirect := s.grant(t, address)
	apptest.Eventually(t, "the client responds at its redirect URI "+redirect, func() bool {
		callback, err := http.Get(redirect)
		if err == nil {
			_ = callback.Body.Close()
		}
		return err == nil
	})
}

// grant opens the address that a client shows, and grants the requested scopes. It returns the
// address of the redirect back to the client. It signs the person in first, because consent needs a
// recent sign-in.
func (s *mcpServer) grant(t *testing.T, address string) (redirect string) {
	t.Helper()
	browser := s.signIn(t)
	_, query, _ := strings.Cut(address, "?")
	page, err := browser.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	_ = page.Body.Close()
	// A program built without the web app returns 501 here, but the calls below still work.
	if page.StatusCode != http.StatusOK && page.StatusCode != http.StatusNotImplemented {
		t.Fatalf("consent page: got status %d, location %q", page.StatusCode, page.Header.Get("Location"))
	}
	request := s.callAPI(t, browser, "POST /app/v1/connect/authorization", map[string]any{"query": query})
	if request["name"] == "" || request["place"] != "device" && request["returnsTo"] == "" {
		t.Errorf("the consent page got request %v, want a client name and a redirect URI", request)
	}
	granted := s.callAPI(t, browser, "POST /app/v1/connect/authorization/allow",
		map[string]any{"query": query, "scopes": request["scopes"]})
	redirect, _ = granted["redirectTo"].(string)
	return redirect
}

// mcpClient runs one MCP client.
type mcpClient struct {
	t *testing.T
	*mcpServer
	byConsent bool   // whether the client gets its token by consent
	consents  int    // number of times the client asked for consent
	stdout    []byte // output of the client
	stderr    string // error output of the client
}

// environment returns the variables that give the client its token, if it does not use consent.
func (v *mcpClient) environment() []string {
	if v.byConsent {
		return nil
	}
	return []string{"TOKEN=" + v.mcpServer.token}
}

const maxLineLength = 1 << 24 // bytes; the inspector prints the list of tools on one line

// consentURL matches the address at which a client asks for consent.
var consentURL = regexp.MustCompile(`https?://\S+/oauth/authorize\?\S+`)

// run runs a client until it exits. When the client prints an address for consent, run grants
// consent.
func (v *mcpClient) run(cmd *exec.Cmd) {
	v.t.Helper()
	stdoutPipe, err := cmd.StdoutPipe()
	if err != nil {
		v.t.Fatal(err)
	}
	stderrPipe, err := cmd.StderrPipe()
	if err != nil {
		v.t.Fatal(err)
	}
	wait := apptest.Start(v.t, cmd)
	lines := make(chan string)
	var reading sync.WaitGroup
	var stdout, stderr bytes.Buffer
	read := func(r io.Reader, copyTo *bytes.Buffer) {
		reading.Go(func() {
			s := bufio.NewScanner(io.TeeReader(r, copyTo))
			s.Buffer(nil, maxLineLength)
			for s.Scan() {
				lines <- s.Text()
			}
		})
	}
	read(stdoutPipe, &stdout)
	read(stderrPipe, &stderr)
	go func() { reading.Wait(); close(lines) }()
	opened := map[string]bool{}
	for line := range lines {
		if at := consentURL.FindString(line); at != "" && !opened[at] {
			opened[at] = true
			v.consents++
			v.consent(v.t, at)
		}
	}
	if err := wait(); err != nil {
		v.t.Fatalf("%v\n%s\n%s", err, stderr.String(), stdout.String())
	}
	v.stdout, v.stderr = stdout.Bytes(), stderr.String()
}

// report decodes the last line that a script in tools/mcp printed.
func (v *mcpClient) report() (report clientReport) {
	v.t.Helper()
	lines := bytes.Split(bytes.TrimSpace(v.stdout), []byte("\n"))
	if err := json.Unmarshal(lines[len(lines)-1], &report); err != nil {
		v.t.Fatalf("decode the client's report: %v\n%s", err, v.stdout)
	}
	return report
}

// clientReport describes what a client received from the server.
type clientReport struct {
	Server, Protocol, Card    string
	Tools, Templates, Prompts []string
	Refreshed, SteppedUp      bool
}

// check compares a client's report with the server's data. The client must have created a card with
// the given title.
func (v *mcpClient) check(report clientReport, title string) {
	v.t.Helper()
	if v.consents > 0 != v.byConsent {
		v.t.Errorf("connected by consent: %v, asked for consent %d times; want consent only without a token", v.byConsent, v.consents)
	}
	if !slices.Contains(report.Tools, "create_card") || slices.ContainsFunc(report.Tools, func(name string) bool {
		return strings.HasPrefix(name, "test_")
	}) {
		v.t.Errorf("got tools %q, want create_card and no test tools", report.Tools)
	}
	// The consent does not include the admin scope. The token has every scope.
	if admin := slices.Contains(report.Tools, "trash_board"); admin == v.byConsent {
		v.t.Errorf("connected by consent: %v, lists trash_board: %v; want trash_board only with a token", v.byConsent, admin)
	}
	if report.Server != "cardwall" && !strings.Contains(report.Server, "mcp-remote") || len(report.Templates) != 2 ||
		len(report.Prompts) != 3 {
		v.t.Errorf("got report %+v, want server cardwall or mcp-remote, 2 templates and 3 prompts", report)
	}
	r, err := http.NewRequestWithContext(v.t.Context(), http.MethodGet,
		v.base+"/api/public/v1/cards/"+url.PathEscape(report.Card), nil)
	if err != nil {
		v.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+v.mcpServer.token)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		v.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	var card struct{ Data struct{ Title string } }
	if err := json.NewDecoder(res.Body).Decode(&card); err != nil || card.Data.Title != title {
		v.t.Errorf("got card %+v, error %v; want title %q", card, err, title)
	}
}

// inspect calls the server with the command-line mode of the MCP inspector, which must not warn
// about the tool schemas.
func (v *mcpClient) inspect(modules, era string) {
	v.t.Helper()
	home := v.t.TempDir()
	type result struct {
		Tools             []struct{ Name string }
		StructuredContent struct{ Data []struct{ ID string } }
	}
	call := func(args ...string) result {
		v.t.Helper()
		all := []string{
			filepath.Join(modules, "@modelcontextprotocol", "inspector", "clients", "launcher", "build", "index.js"), "--cli",
			"--server-url", v.base + "/mcp", "--transport", "http", "--protocol-era", era, "--format", "json", "--callback-url",
			"http://" + apptest.ReserveAddress(v.t) + "/oauth/callback",
		}
		if !v.byConsent {
			all = append(all, "--header", "Authorization: Bearer "+v.mcpServer.token)
		}
		v.run(node(v.t, modules, []string{"HOME=" + home, "MCP_INSPECTOR_SECRET_STORE=file", "MCP_AUTO_OPEN_ENABLED=true"},
			append(all, args...)...))
		var output struct{ Result result }
		if err := json.Unmarshal(v.stdout, &output); err != nil {
			v.t.Fatalf("decode the inspector's output: %v\n%s", err, v.stdout)
		}
		return output.Result
	}
	if tools := call("--method", "tools/list", "--strict").Tools; len(tools) < 40 {
		v.t.Errorf("the inspector lists tools %v, want at least 40", tools)
	}
	if strings.Contains(v.stderr, "Warning:") {
		v.t.Errorf("the inspector printed a warning:\n%s", v.stderr)
	}
	if data := call("--method", "tools/call", "--tool-name", "list_workspaces").StructuredContent.Data; len(data) != 1 ||
		data[0].ID != v.workspace {
		v.t.Errorf("the inspector lists workspaces %v, want only %s", data, v.workspace)
	}
	if once := v.consents == 1; once != v.byConsent {
		v.t.Errorf("connected by consent: %v, asked for consent %d times; want once, or never with a token", v.byConsent, v.consents)
	}
}
