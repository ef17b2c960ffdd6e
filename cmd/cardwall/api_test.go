package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

// unreliable passes requests to a server, and fails some on the way: faults maps the number of a
// request to what happens to it.
type unreliable struct {
	http.Handler
	mu     sync.Mutex
	served int
	faults map[int]string
}

func (u *unreliable) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	u.mu.Lock()
	u.served++
	fault := u.faults[u.served]
	u.mu.Unlock()
	switch fault {
	case "cut before":
		panic(http.ErrAbortHandler)
	case "cut after":
		u.Handler.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	case "limited":
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusTooManyRequests)
	case "in progress":
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusConflict)
	case "limited for long":
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusTooManyRequests)
	case "moved":
		http.Redirect(w, r, "/elsewhere", http.StatusFound)
	case "":
		u.Handler.ServeHTTP(w, r)
	}
}

// api runs cardwall api against a server, with a person's token.
func api(p *apptest.Person, server *httptest.Server, stdin string, args ...string) (status int, stdout, stderr string) {
	var out, errors bytes.Buffer
	args = append([]string{"api", "--base-url", server.URL, "--token", p.Token}, args...)
	status = run(args, strings.NewReader(stdin), &out, &errors)
	return status, out.String(), errors.String()
}

func TestAPICommand(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, filepath.Join(t.TempDir(), "cardwall.db"), apptest.Options{})
	ada := s.Person("Ada")
	b := ada.Must("create_board", apptest.Fields{"workspaceId": ada.Workspace("Engines", board.PlanTeam), "name": "Wall"}).ID()
	list := ada.Must("create_list", apptest.Fields{"boardId": b, "name": "List"}).ID()
	network := &unreliable{Handler: s.Handler}
	server := httptest.NewServer(network)
	defer server.Close()

	// A write whose response was lost is not done twice.
	network.faults = map[int]string{1: "cut before", 2: "cut after", 3: "in progress", 4: "limited"}
	status, out, stderr := api(ada, server, "", "post", "/cards", "-f", "listId="+list, "-f", "title=007", "-f", `labels=[]`)
	if status != 0 || !strings.Contains(out, "\n    \"title\": \"007\",\n") || network.served != 5 {
		t.Errorf("POST /cards: got status %d after %d requests, output %s, errors %s; want the card after 5", status, network.served, out, stderr)
	}
	for i := range 3 {
		body := fmt.Sprintf(`{"listId": %q, "title": "Card %d"}`, list, i)
		if status, _, stderr := api(ada, server, body, "POST", "/cards", "--body", "-"); status != 0 {
			t.Errorf("POST /cards with a body: got status %d, errors %s", status, stderr)
		}
	}
	if got := ada.All("list_cards", "title", apptest.Fields{"boardId": b}); !slices.Equal(got, []string{"007", "Card 0", "Card 1", "Card 2"}) {
		t.Errorf("cards: got %v, want each card once", got)
	}

	// --all reads all pages, and prints one record on a line.
	status, out, stderr = api(ada, server, "", "GET", "/boards/"+b+"/cards", "-f", "fields=title", "-f", "limit=1", "--all")
	if lines := strings.Split(strings.TrimSpace(out), "\n"); status != 0 || len(lines) != 4 || lines[3] != `{"title":"Card 2"}` {
		t.Errorf("GET with --all: got status %d, output %s, errors %s; want four lines", status, out, stderr)
	}

	// A second write with a key returns the first result.
	file := filepath.Join(t.TempDir(), "body.json")
	if err := os.WriteFile(file, []byte(`{"text": "Done."}`), 0o600); err != nil {
		t.Fatal(err)
	}
	card := ada.Must("get_card_by_number", apptest.Fields{"boardId": b, "number": 1}).ID()
	_, first, _ := api(ada, server, "", "POST", "/api/public/v1/cards/"+card+"/comments", "--body", file, "--key", "k1")
	_, second, _ := api(ada, server, "", "POST", "/cards/"+card+"/comments", "--body", file, "--key", "k1")
	if second != first || first == "" {
		t.Errorf("second write with a key: got %s, want %s", second, first)
	}

	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	if status, _, stderr := api(ada, other, "", "GET", "/boards"); status != 1 || !strings.Contains(stderr, "check --base-url") {
		t.Errorf("api with another server: got status %d, errors %q; want a hint at --base-url", status, stderr)
	}
	// A redirect is not followed, and a long wait is an error at once.
	network.faults = map[int]string{network.served + 1: "moved", network.served + 2: "limited for long"}
	for _, want := range []string{"status 302", "status 429"} {
		before := network.served
		status, _, stderr := api(ada, server, "", "POST", "/cards", "-f", "listId="+list, "-f", "title=x")
		if status != 1 || !strings.Contains(stderr, want) || network.served != before+1 {
			t.Errorf("got status %d after %d requests, errors %s; want %s after one", status, network.served-before, stderr, want)
		}
	}
	for want, args := range map[string][]string{
		"status 404, not_found": {"GET", "/cards/crd_none"},
		"title":                 {"POST", "/cards", "-f", "listId=" + list, "-f", "title="},
		"--field x must have":   {"GET", "/boards", "-f", "x"},
		`cardwall: GET /boards/..: ".." is not an id`: {"GET", "/boards/.."},
		"the body is not JSON":                        {"POST", "/boards", "--body", "api_test.go"},
		"--all needs the method GET":                  {"POST", "/boards", "--all"},
		"is not a list, so --all has no":              {"GET", "/boards/" + b, "--all"},
		"the query of the path is":                    {"GET", "/boards?%zz"},
		"open " + file + "x: no such file":            {"POST", "/boards", "--body", file + "x"},
	} {
		if status, out, stderr := api(ada, server, "", args...); status != 1 || out != "" || !strings.Contains(stderr, want) {
			t.Errorf("api %v: got status %d, output %q, errors %q; want an error that contains %q", args, status, out, stderr, want)
		}
	}
}
