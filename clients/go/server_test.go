package cardwall_test

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cardwall/clients/go"
)

// faulty fails on purpose: before the server has got the first try of a request, after it has
// handled the second one, and with 429 and 502 for the next ones. The last try gets through.
type faulty struct {
	mu    sync.Mutex
	tries map[string]int
}

func (f *faulty) RoundTrip(r *http.Request) (*http.Response, error) {
	request := r.Header.Get("Idempotency-Key")
	if request == "" {
		request = r.Method + r.URL.String()
	}
	f.mu.Lock()
	try := f.tries[request]
	f.tries[request]++
	f.mu.Unlock()
	switch try % 5 {
	case 0:
		return nil, errors.New("cut before")
	case 2:
		return &http.Response{StatusCode: 429, Header: http.Header{"Retry-After": {"1"}}, Body: http.NoBody}, nil
	case 3:
		return &http.Response{StatusCode: 502, Body: http.NoBody}, nil
	}
	response, err := http.DefaultTransport.RoundTrip(r)
	if err == nil && try%5 == 1 {
		response.Body.Close()
		return nil, errors.New("cut after")
	}
	return response, err
}

// server starts a real server, and returns its address and a token.
func server(t *testing.T) (address, token string) {
	binary := os.Getenv("CARDWALL_BIN")
	if binary == "" {
		t.Skip("CARDWALL_BIN is not set; run make test-go-client")
	}
	port, data := freePort(t), t.TempDir()
	address = "http://127.0.0.1:" + port
	command := func(args ...string) *exec.Cmd {
		c := exec.Command(binary, args...)
		c.Env = append(os.Environ(), "CARDWALL_DATA="+data, "CARDWALL_ADDR=127.0.0.1:"+port,
			"CARDWALL_BASE_URL="+address, "CARDWALL_WEBHOOK_ALLOW=127.0.0.1")
		return c
	}
	output := func(args ...string) string {
		out, err := command(args...).Output()
		if err != nil {
			t.Fatal(args, err)
		}
		return strings.TrimSpace(string(out))
	}
	output("user", "add", "--email=ada@example.com", "--name=Ada")
	output("workspace", "add", "--owner=ada@example.com", "--name=Engines")
	token = output("token", "add", "--user=ada@example.com", "--name=test", "--scopes=read,write,admin")
	serve := command("serve")
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = serve.Process.Signal(os.Interrupt)
		_ = serve.Wait()
	})
	for range 300 {
		response, err := http.Get(address + "/readyz")
		if err == nil {
			response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return address, token
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal("the server did not start")
	return "", ""
}

func freePort(t *testing.T) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	return port
}

func TestServer(t *testing.T) {
	address, token := server(t)
	client, err := cardwall.New(address, token)
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	workspaces, err := client.ListWorkspaces(ctx, cardwall.ListWorkspacesParams{})
	if err != nil {
		t.Fatal(err)
	}

	t.Run("nothing happens twice", func(t *testing.T) {
		faults := &faulty{tries: map[string]int{}}
		client, _ := cardwall.New(address, token)
		client.HTTPClient = &http.Client{Transport: faults}
		board, err := client.CreateBoard(ctx, cardwall.CreateBoardParams{
			WorkspaceID: workspaces.Data[0].ID, Name: "Faults", Lists: []cardwall.NewList{{Name: "A"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		list := board.Data.Lists[0].ID
		_, err = client.CreateCards(ctx, board.Data.ID, cardwall.CreateCardsParams{
			Cards: []cardwall.CreateCardInput{{ListID: list, Title: "b"}, {ListID: list, Title: "c"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err = client.CreateCard(ctx, cardwall.CreateCardParams{ListID: list, Title: "a", Position: cardwall.Top()}); err != nil {
			t.Fatal(err)
		}
		var titles []string
		for card, err := range client.IterateCards(ctx, board.Data.ID, cardwall.ListCardsParams{Limit: 2}) {
			if err != nil {
				t.Fatal(err)
			}
			titles = append(titles, card.Title)
		}
		if want := []string{"a", "b", "c"}; !slices.Equal(titles, want) {
			t.Errorf("the cards are %q, want %q", titles, want)
		}
		boards := 0
		for b := range client.IterateBoards(ctx, cardwall.ListBoardsParams{}) {
			if b.Name == "Faults" {
				boards++
			}
		}
		for request, tries := range faults.tries {
			if tries != 5 {
				t.Errorf("%s was tried %d times", request, tries)
			}
		}
		if boards != 1 {
			t.Errorf("there are %d boards", boards)
		}
	})

	t.Run("example", func(t *testing.T) {
		program := filepath.Join(t.TempDir(), "board")
		if out, err := exec.Command("go", "build", "-o", program, "./examples").CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		start := func(args ...string) func() string {
			c := exec.Command(program, args...)
			c.Env = append(os.Environ(), "CARDWALL_URL="+address, "CARDWALL_TOKEN="+token)
			var out strings.Builder
			c.Stdout, c.Stderr = &out, os.Stderr
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			return func() string {
				if err := c.Wait(); err != nil {
					t.Errorf("%q: %v", args, err)
				}
				return strings.TrimSpace(out.String())
			}
		}
		table := filepath.Join(t.TempDir(), "cards.csv")
		rows := "list,title,description,due\n"
		for i := range 130 {
			rows += fmt.Sprintf("List %d,Card %d,,2026-12-01\n", i%2, i)
		}
		if err := os.WriteFile(table, []byte(rows), 0o600); err != nil {
			t.Fatal(err)
		}
		board := start("import", "Imported", table)()
		for _, want := range []string{"130", "0"} {
			if got := start("edit", board, "Seen")(); got != want {
				t.Errorf("edit changed %s cards, want %s", got, want)
			}
		}
		cursor := filepath.Join(t.TempDir(), "cursor")
		if lines := strings.Split(start("catch-up", board, cursor)(), "\n"); len(lines) < 260 {
			t.Errorf("there are only %d changes", len(lines))
		}
		if again := start("catch-up", board, cursor)(); again != "" {
			t.Errorf("the changes are printed again: %s", again)
		}
		wait := start("watch", board, freePort(t), "2")
		for range 100 {
			hooks, err := client.ListWebhooks(ctx, cardwall.ListWebhooksParams{WorkspaceID: workspaces.Data[0].ID})
			if err == nil && len(hooks.Data) == 1 {
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
		for card := range client.IterateCards(ctx, board, cardwall.ListCardsParams{Limit: 1}) {
			if _, err := client.AddComment(ctx, card.ID, cardwall.AddCommentParams{Text: "Hello"}); err != nil {
				t.Fatal(err)
			}
			if _, err := client.ArchiveCard(ctx, card.ID); err != nil {
				t.Fatal(err)
			}
			break
		}
		events := wait()
		if !strings.Contains(events, "comment.added itg_") || !strings.Contains(events, "card.archived itg_") {
			t.Errorf("the events are %s", events)
		}
		hooks, err := client.ListWebhooks(ctx, cardwall.ListWebhooksParams{WorkspaceID: workspaces.Data[0].ID})
		if err != nil || len(hooks.Data) != 0 {
			t.Errorf("the webhooks are %v, %v", hooks, err)
		}
	})

	t.Run("first program of the README", func(t *testing.T) {
		text, err := os.ReadFile("README.md")
		if err != nil {
			t.Fatal(err)
		}
		_, program, _ := strings.Cut(string(text), "```go\n")
		program, _, _ = strings.Cut(program, "```")
		file := filepath.Join(t.TempDir(), "main.go")
		if err := os.WriteFile(file, []byte(program), 0o600); err != nil {
			t.Fatal(err)
		}
		c := exec.Command("go", "run", file)
		c.Env = append(os.Environ(), "CARDWALL_URL="+address, "CARDWALL_TOKEN="+token)
		out, err := c.CombinedOutput()
		if err != nil || !strings.HasPrefix(string(out), "Mill: "+address+"/cards/crd_") {
			t.Errorf("%v: %s", err, out)
		}
	})

	t.Run("errors", func(t *testing.T) {
		wrong, _ := cardwall.New(address, "wrong")
		if _, err := wrong.GetMe(ctx, cardwall.GetMeParams{}); !errors.Is(err, cardwall.ErrUnauthenticated) {
			t.Errorf("the error is %v", err)
		}
		var e *cardwall.APIError
		_, err := client.CreateBoard(ctx, cardwall.CreateBoardParams{WorkspaceID: workspaces.Data[0].ID})
		if !errors.As(err, &e) || e.Details[0].Field != "name" || e.RequestID == "" {
			t.Errorf("the error is %#v", err)
		}
	})
}
