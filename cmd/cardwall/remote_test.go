package main

import (
	"bytes"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

// remoteCLI runs the commands that use the API of a server, with a person's token.
type remoteCLI struct {
	t      *testing.T
	base   string
	person *apptest.Person
}

func (c remoteCLI) run(args ...string) (status int, stdout, stderr string) {
	var out, errors bytes.Buffer
	status = run(append(args, "--base-url", c.base, "--token", c.person.Token), strings.NewReader(""), &out, &errors)
	return status, strings.TrimSpace(out.String()), errors.String()
}

func (c remoteCLI) must(args ...string) string {
	c.t.Helper()
	status, out, stderr := c.run(args...)
	if status != 0 {
		c.t.Fatalf("cardwall %v: %s", args, stderr)
	}
	return out
}

func TestCardsFromTheCommandLine(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, filepath.Join(t.TempDir(), "cardwall.db"), apptest.Options{})
	server := httptest.NewServer(s.Handler)
	defer server.Close()
	c := remoteCLI{t, server.URL, s.Person("Ada")}
	c.person.Workspace("Engines", board.PlanTeam)

	wall := c.must("boards", "create", "Wall", "--list", "To do", "--list", "Done, at last")
	other := c.must("boards", "create", "Other", "--list", "Elsewhere")
	if got, want := c.must("boards", "list"), wall+"\tWall\t0\tadmin\n"+other+"\tOther\t0\tadmin"; !sameLines(got, want) {
		t.Errorf("boards list printed:\n%s\nwant:\n%s", got, want)
	}
	first := c.must("cards", "create", "Fly to Rome", "--board", "wall", "--list", "to do", "--due", "2026-12-24",
		"--description", "By train.")
	c.person.Must("update_profile", apptest.Fields{"timeZone": "Asia/Tehran"})
	second := c.must("cards", "create", "راه\u200cآهن", "--board", server.URL+"/boards/"+wall, "--list", "To do",
		"--due", "2026-12-25T17:00")
	if got := c.person.Must("get_card", apptest.Fields{"cardId": second}).Text("dueAt"); got != "2026-12-25T13:30:00.000Z" {
		t.Errorf("the card is due at %s, want 17:00 in Tehran", got)
	}

	// By number and name, by id and name, and by URL to another board.
	c.must("cards", "move", "2", "--board", "Wall", "--list", "done, at last")
	c.must("cards", "move", first, "--list", "Done, at last", "--position", "top")
	want := first + "\t1\tDone, at last\tFly to Rome\t2026-12-24\t\n" + second + "\t2\tDone, at last\tراه\u200cآهن\t2026-12-25T17:00\t"
	if got := c.must("cards", "list", "--board", "Wall"); got != strings.TrimSpace(want) {
		t.Errorf("cards list printed:\n%q\nwant:\n%q", got, want)
	}
	if got := c.must("cards", "list", "--board", wall, "--list", "To do"); got != "" {
		t.Errorf("cards list of an empty list printed %q, want nothing", got)
	}
	elsewhere := c.person.Must("list_lists", apptest.Fields{"boardId": other}).Text("0.id")
	c.must("cards", "move", server.URL+"/cards/"+second, "--list", elsewhere)
	if got := c.must("cards", "list", "--board", "Other", "--json"); !regexp.MustCompile(`^\{"id":"` + second + `",.*\}$`).MatchString(got) {
		t.Errorf("cards list --json printed %s, want the card that was moved", got)
	}

	c.must("cards", "create", "Third", "--board", "Wall", "--list", "To do")
	if status, out, stderr := c.run("cards", "list", "--board", "Wall", "--limit", "1"); status != 0 || strings.Contains(out, "\n") ||
		!strings.Contains(stderr, "more than 1") {
		t.Errorf("cards list --limit 1: status %d, printed %q and %q; want one line and a hint", status, out, stderr)
	}
	if got := c.must("cards", "create", "Fourth", "--list", elsewhere, "--json"); !strings.Contains(got, `"title":"Fourth"`) {
		t.Errorf("cards create --json printed %s, want the card", got)
	}
}

func TestRemoteCommandsExplainErrors(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, filepath.Join(t.TempDir(), "cardwall.db"), apptest.Options{})
	server := httptest.NewServer(s.Handler)
	defer server.Close()
	c := remoteCLI{t, server.URL, s.Person("Ada")}
	c.person.Workspace("Engines", board.PlanTeam)
	c.must("boards", "create", "Twin")
	c.must("boards", "create", "Twin")
	c.must("boards", "create", "Wall", "--list", "To do")
	c.must("cards", "create", "One", "--board", "Wall", "--list", "To do")
	c.person.Workspace("Looms", board.PlanTeam)
	for want, args := range map[string][]string{
		"you are in 2 workspaces; choose one with --workspace":         {"boards", "create", "x"},
		`there is no workspace "Mills" that you can see`:               {"boards", "list", "--workspace", "Mills"},
		`there is no board "Mill" that you can see`:                    {"cards", "list", "--board", "Mill"},
		`several boards are named "twin"; use an id: brd_`:             {"cards", "list", "--board", "twin"},
		`there is no list "Doing" that you can see`:                    {"cards", "create", "x", "--board", "Wall", "--list", "Doing"},
		`"To do" is not the id of a list; to name a list, add --board`: {"cards", "create", "x", "--list", "To do"},
		"to name a card by its number, add --board":                    {"cards", "move", "1", "--list", "To do"},
		`"One" is not the id, URL or number of a card`:                 {"cards", "move", "One", "--list", "To do"},
		"status 404, not_found: ":                                      {"cards", "move", "7", "--board", "Wall", "--list", "To do"},
		"status 400, invalid_request: ":                                {"cards", "create", "", "--board", "Wall", "--list", "To do"},
		`--position must be one of "top","bottom" but got "middle"`:    {"cards", "move", "1", "--list", "x", "--position", "middle"},
	} {
		if status, out, stderr := c.run(args...); status != 1 || out != "" || !strings.Contains(stderr, want) {
			t.Errorf("cardwall %v: got status %d, output %q, errors %q; want an error that contains %q", args, status, out, stderr, want)
		}
	}
	c.person.Token = ""
	if status, _, stderr := c.run("boards", "list"); status != 1 || !strings.Contains(stderr, "set CARDWALL_TOKEN") {
		t.Errorf("boards list without a token: got status %d, errors %q", status, stderr)
	}
}

// A server that allows more than Cardwall does cannot change the terminal.
func TestCellsAreHarmless(t *testing.T) {
	t.Parallel()
	if got := cellText("a\x1b[2J\tb\u202ec راه\u200cآهن 👩\u200d🚀"); got != "a [2J b c راه\u200cآهن 👩\u200d🚀" {
		t.Errorf("got %q, want spaces instead of controls, and joiners as they are", got)
	}
}

// The help of these commands is about them, and not about running a server.
func TestRemoteHelpLacksServerFlags(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	for _, args := range [][]string{{"cards", "list", "--help"}, {"cards", "--help"}, {"login", "--help"}, {"api", "--help"}} {
		out.Reset()
		if status := run(args, strings.NewReader(""), &out, &out); status != 0 ||
			!strings.Contains(out.String(), "--base-url") || strings.Contains(out.String(), "--max-cards") {
			t.Errorf("%v printed %s, want --base-url and not --max-cards", args, out.String())
		}
	}
	out.Reset()
	if run([]string{"doctor", "--help"}, strings.NewReader(""), &out, &out); !strings.Contains(out.String(), "--max-cards") {
		t.Error("doctor --help lacks --max-cards")
	}
}

// sameLines reports whether two texts have the same lines, in any order.
func sameLines(a, b string) bool {
	first, second := strings.Split(a, "\n"), strings.Split(b, "\n")
	slices.Sort(first)
	slices.Sort(second)
	return slices.Equal(first, second)
}

// Without a token, the commands use the server of the last login, unless --base-url names another one.
func TestRemoteCommandsUseTheLogin(t *testing.T) { // not parallel, because the logins are in the configuration folder
	s := apptest.New(t, filepath.Join(t.TempDir(), "cardwall.db"), apptest.Options{})
	server := httptest.NewServer(s.Handler)
	defer server.Close()
	ada := s.Person("Ada")
	ada.Workspace("Engines", board.PlanTeam)
	folder := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", folder)
	for _, name := range []string{"CARDWALL_BASE_URL", "CARDWALL_TOKEN"} {
		t.Setenv(name, "") // restores it after the test
		if err := os.Unsetenv(name); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(folder, "cardwall"), 0o700); err != nil {
		t.Fatal(err)
	}
	logins := `{"current": "` + server.URL + `", "servers": {"` + server.URL + `": {"clientId": "cli_1", "revokeUrl": "` +
		server.URL + `/oauth/revoke", "token": {"access_token": "` + ada.Token + `", "expiry": "2999-01-01T00:00:00Z"}}}}`
	if err := os.WriteFile(filepath.Join(folder, "cardwall", "logins.json"), []byte(logins), 0o600); err != nil {
		t.Fatal(err)
	}
	command := func(args ...string) (status int, stdout, stderr string) {
		var out, errors bytes.Buffer
		status = run(args, strings.NewReader(""), &out, &errors)
		return status, strings.TrimSpace(out.String()), errors.String()
	}
	if status, out, stderr := command("boards", "create", "Wall"); status != 0 || !strings.HasPrefix(out, "brd_") {
		t.Errorf("boards create: status %d, printed %q and %q; want the id", status, out, stderr)
	}
	if status, out, stderr := command("api", "GET", "/me"); status != 0 || !strings.Contains(out, `"name": "Ada"`) {
		t.Errorf("api GET /me: status %d, printed %q and %q", status, out, stderr)
	}
	want := "you are not signed in: run cardwall login --base-url http://127.0.0.1:1"
	if status, _, stderr := command("boards", "list", "--base-url", "http://127.0.0.1:1"); status != 1 || !strings.Contains(stderr, want) {
		t.Errorf("boards list of another server: status %d, printed %q; want %q", status, stderr, want)
	}
	if status, out, stderr := command("logout"); status != 0 || out != "You are signed out of "+server.URL+"." {
		t.Errorf("logout: status %d, printed %q and %q", status, out, stderr)
	}
	if status, _, stderr := command("logout"); status != 1 || !strings.Contains(stderr, "you are not signed in") {
		t.Errorf("second logout: status %d, printed %q", status, stderr)
	}
}
