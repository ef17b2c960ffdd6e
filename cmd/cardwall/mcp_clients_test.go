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
	"time"
)

// TestClientsOfMCP connects popular MCP clients to the server, with a pasted token and with a
// person's consent, and lets them work as an agent would; see tools/mcp/visit.mjs.
func TestClientsOfMCP(t *testing.T) {
	t.Parallel()
	modules := mcpModules(t)
	address := freeAddress(t)
	s := serveMCP(t, build(t), address, "http://"+address)
	s.signIn()
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
			for _, way := range []string{"token", "consent"} {
				t.Run(name+", "+way, func(t *testing.T) {
					t.Parallel()
					v := visitor{t: t, mcpServer: s, byConsent: way == "consent"}
					title := name + ", " + way
					v.run(node(t, modules, v.token(),
						append([]string{filepath.Join(scripts, c.script), s.base + "/mcp", title}, c.args...)...))
					seen := v.seen()
					v.check(seen, title)
					if seen.Protocol != c.protocol {
						t.Errorf("the protocol version is %q, want %q", seen.Protocol, c.protocol)
					}
					if v.byConsent && c.protocol != "" && !seen.Refreshed {
						t.Error("the client did not get a new access token with its refresh token")
					}
				})
			}
		}
		for _, era := range []string{"legacy", "modern"} {
			for _, way := range []string{"token", "consent"} {
				t.Run("inspector, "+era+" era, "+way, func(t *testing.T) {
					t.Parallel()
					v := visitor{t: t, mcpServer: s, byConsent: way == "consent"}
					v.inspect(modules, era)
				})
			}
		}
	})
}

// signIn signs the person in, in the browser that gives consent.
func (s *mcpServer) signIn() {
	s.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	s.browser = &http.Client{Jar: jar, Timeout: 10 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	s.t.Cleanup(s.browser.CloseIdleConnections)
	s.page(s.t, "/sign-in", map[string]any{"email": "ada@example.com", "password": mcpPassword})
}

// page calls an operation as a page of the application does.
func (s *mcpServer) page(t *testing.T, path string, input map[string]any) (data map[string]any) {
	t.Helper()
	body, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.base+"/api/app/v1"+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Origin", s.base)
	answer, err := s.browser.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	var envelope struct{ Data map[string]any }
	if err != nil || json.Unmarshal(text, &envelope) != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %s (%v)", path, answer.StatusCode, text, err)
	}
	return envelope.Data
}

// consent does what a person does with the address that a client shows: it reads the request,
// allows reading and writing, and follows the redirect back to the client.
func (s *mcpServer) consent(t *testing.T, address string) {
	t.Helper()
	_, query, _ := strings.Cut(address, "?")
	shown, err := s.browser.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	_ = shown.Body.Close()
	// A program built without its pages says so on the page; the page's own calls still work.
	if shown.StatusCode != http.StatusOK && shown.StatusCode != http.StatusNotImplemented {
		t.Fatalf("there is no consent page: got status %d, location %s", shown.StatusCode, shown.Header.Get("Location"))
	}
	asked := s.page(t, "/connect/authorization", map[string]any{"query": query})
	if asked["name"] == "" || asked["place"] != "device" && asked["returnsTo"] == "" {
		t.Errorf("the consent page shows %v", asked)
	}
	allowed := s.page(t, "/connect/authorization/allow",
		map[string]any{"query": query, "scopes": []string{"read", "write"}})
	to, _ := allowed["redirectTo"].(string)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		back, err := http.Get(to)
		if err == nil {
			_ = back.Body.Close()
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the client does not listen at its redirect address: %v", err)
		}
	}
}

// visitor is a running client.
type visitor struct {
	t *testing.T
	*mcpServer
	byConsent bool
	consented int
	out       []byte // its standard output
	problems  string // its standard error
}

// token returns the environment of a client with a token.
func (v *visitor) token() []string {
	if v.byConsent {
		return nil
	}
	return []string{"TOKEN=" + v.mcpServer.token}
}

const longestLine = 1 << 24 // the inspector prints the list of tools in one line

// asks matches the address at which a client asks for consent.
var asks = regexp.MustCompile(`https?://\S+/oauth/authorize\?\S+`)

// run runs a client to its end. When the client prints an address for consent, a person gives
// consent.
func (v *visitor) run(cmd *exec.Cmd) {
	v.t.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		v.t.Fatal(err)
	}
	problems, err := cmd.StderrPipe()
	if err != nil {
		v.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		v.t.Fatal(err)
	}
	lines := make(chan string)
	var reading sync.WaitGroup
	var stderr bytes.Buffer
	read := func(r io.Reader, keep *bytes.Buffer) {
		reading.Go(func() {
			s := bufio.NewScanner(io.TeeReader(r, keep))
			s.Buffer(nil, longestLine)
			for s.Scan() {
				lines <- s.Text()
			}
		})
	}
	var kept bytes.Buffer
	read(out, &kept)
	read(problems, &stderr)
	go func() { reading.Wait(); close(lines) }()
	seen := map[string]bool{}
	for line := range lines {
		if at := asks.FindString(line); at != "" && !seen[at] {
			seen[at] = true
			v.consented++
			v.consent(v.t, at)
		}
	}
	if err := cmd.Wait(); err != nil {
		v.t.Fatalf("%v\n%s\n%s", err, stderr.String(), kept.String())
	}
	v.out, v.problems = kept.Bytes(), stderr.String()
}

// seen returns the last output of a script of tools/mcp.
func (v *visitor) seen() (seen visit) {
	v.t.Helper()
	lines := bytes.Split(bytes.TrimSpace(v.out), []byte("\n"))
	if err := json.Unmarshal(lines[len(lines)-1], &seen); err != nil {
		v.t.Fatalf("%v in %s", err, v.out)
	}
	return seen
}

// visit is what a client saw.
type visit struct {
	Server, Protocol, Card    string
	Tools, Templates, Prompts []string
	Refreshed                 bool
}

// check compares what a client saw with the server's data.
func (v *visitor) check(seen visit, title string) {
	v.t.Helper()
	if v.consented > 0 != v.byConsent {
		v.t.Errorf("the client asked for consent %d times", v.consented)
	}
	if !slices.Contains(seen.Tools, "create_card") || slices.ContainsFunc(seen.Tools, func(name string) bool {
		return strings.HasPrefix(name, "test_")
	}) {
		v.t.Errorf("the client sees the tools %q", seen.Tools)
	}
	// The consent includes write; the pasted token has every scope.
	if admin := slices.Contains(seen.Tools, "trash_board"); admin == v.byConsent {
		v.t.Errorf("the client sees tools that need the scope admin: %v", admin)
	}
	if seen.Server != "cardwall" && !strings.Contains(seen.Server, "mcp-remote") || len(seen.Templates) != 2 ||
		len(seen.Prompts) != 3 {
		v.t.Errorf("the client saw %+v", seen)
	}
	r, err := http.NewRequestWithContext(v.t.Context(), http.MethodGet,
		v.base+"/api/public/v1/cards/"+url.PathEscape(seen.Card), nil)
	if err != nil {
		v.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+v.mcpServer.token)
	answer, err := v.browser.Do(r)
	if err != nil {
		v.t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	var card struct{ Data struct{ Title string } }
	if err := json.NewDecoder(answer.Body).Decode(&card); err != nil || card.Data.Title != title {
		v.t.Errorf("the card is %+v (%v), want the title %q", card, err, title)
	}
}

// inspect calls the server with the inspector's command line, which must report no errors in
// the tools' schemas.
func (v *visitor) inspect(modules, era string) {
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
			"http://" + freeAddress(v.t) + "/oauth/callback",
		}
		if !v.byConsent {
			all = append(all, "--header", "Authorization: Bearer "+v.mcpServer.token)
		}
		v.run(node(v.t, modules, []string{"HOME=" + home, "MCP_INSPECTOR_SECRET_STORE=file", "MCP_AUTO_OPEN_ENABLED=true"},
			append(all, args...)...))
		var answer struct{ Result result }
		if err := json.Unmarshal(v.out, &answer); err != nil {
			v.t.Fatalf("%v in %s", err, v.out)
		}
		return answer.Result
	}
	if tools := call("--method", "tools/list", "--strict").Tools; len(tools) < 40 {
		v.t.Errorf("the inspector sees the tools %v", tools)
	}
	if strings.Contains(v.problems, "Warning:") {
		v.t.Errorf("the inspector warns:\n%s", v.problems)
	}
	if data := call("--method", "tools/call", "--tool-name", "list_workspaces").StructuredContent.Data; len(data) != 1 ||
		data[0].ID != v.workspace {
		v.t.Errorf("the inspector sees the workspaces %v, want %s", data, v.workspace)
	}
	if once := v.consented == 1; once != v.byConsent {
		v.t.Errorf("the inspector asked for consent %d times", v.consented)
	}
}
