package transfer_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

// listen serves a service on 127.0.0.1 with small buffers, so that a slow reader soon blocks the
// server's writes.
func listen(t *testing.T, s *apptest.Service) (address string) {
	t.Helper()
	server := httptest.NewUnstartedServer(s.Handler)
	server.Config.ConnState = func(c net.Conn, state http.ConnState) {
		if tcp, ok := c.(*net.TCPConn); ok && state == http.StateNew {
			_ = tcp.SetWriteBuffer(16 << 10)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

// connect sends the head of a request and returns its connection.
func connect(t *testing.T, address, head string) *net.TCPConn {
	t.Helper()
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	tcp := c.(*net.TCPConn)
	_ = tcp.SetReadBuffer(16 << 10)
	if _, err := io.WriteString(tcp, strings.ReplaceAll(head, "\n", "\r\n")+"\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	return tcp
}

// exportOf returns the head of a request whose connection ends with the response, so
// that a test that reads all of it ends too.
func exportOf(token, boardID string) string {
	return "GET /api/public/v1/boards/" + boardID + "/export HTTP/1.1\nHost: x\nConnection: close\nAuthorization: Bearer " + token
}

func importInto(token, workspaceID string, size int) string {
	return fmt.Sprintf("POST /api/app/v1/workspaces/%s/import?format=trello HTTP/1.1\nHost: x\nAuthorization: Bearer %s\n"+
		"Content-Length: %d", workspaceID, token, size)
}

// bigBoard imports a board whose export has about 3 MB.
func bigBoard(t *testing.T, p *apptest.Person, workspace string) (boardID string) {
	t.Helper()
	file := strings.ReplaceAll(trelloOf(750), `"desc":""`, `"desc":"`+strings.Repeat("what is said of it ", 200)+`"`)
	status, lines := upload(p, workspace, "trello", "application/x-ndjson", file) // the last line is the report
	if lines[len(lines)-1].Data == nil {
		t.Fatalf("import: %d %+v", status, lines)
	}
	return p.All("list_boards", "id", apptest.Fields{"workspaceId": workspace})[0]
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for begun := time.Now(); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Since(begun) > 30*time.Second {
			t.Fatal(what)
		}
	}
}

// Slow readers of exports use only disk space: other people get their reports and exports, and
// their writes are visible. An export does not contain changes made after it was read.
func TestSlowExportsDoNotBlockOthers(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada, bob, eve := s.Person("Ada"), s.Person("Bob"), s.Person("Eve")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		bob.Joins(workspace, board.WorkspaceMember)
		eve.Joins(workspace, board.WorkspaceMember)
		id := bigBoard(t, ada, workspace)
		address := listen(t, s)
		var slow []*net.TCPConn
		for _, p := range []*apptest.Person{ada, ada, bob, bob} {
			slow = append(slow, connect(t, address, exportOf(p.Token, id)))
		}
		eventually(t, "the exports are not spooled", func() bool { return s.Spool.Used() > 4<<20 })
		for _, p := range []*apptest.Person{ada, bob} {
			a := p.Call("export_board", apptest.Fields{"boardId": id})
			if a.Status != http.StatusTooManyRequests || !strings.Contains(string(a.Raw), string(board.ReasonTooManyAtOnce)) {
				t.Errorf("a third export of %s: %d %.100s", p.Name, a.Status, a.Raw)
			}
		}
		begun := time.Now()
		for range 5 {
			eve.Must("search_cards", apptest.Fields{"q": "said"})
			eve.Must("get_my_overview", nil)
			eve.Must("get_workspace_dashboard", apptest.Fields{"workspaceId": workspace})
		}
		eve.Must("export_board", apptest.Fields{"boardId": id})
		ada.Must("update_board", apptest.Fields{"boardId": id, "name": "Renamed"})
		if took := time.Since(begun); took > 20*time.Second {
			t.Errorf("during slow exports, other requests took %s", took)
		}
		for _, c := range slow[1:] { // cancelled
			_ = c.Close()
		}
		_ = slow[0].SetReadBuffer(1 << 20)
		response, err := http.ReadResponse(bufio.NewReader(slow[0]), nil)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(response.Body)
		if err != nil || !bytes.HasSuffix(bytes.TrimSpace(text), []byte(`"complete":true}`)) || bytes.Contains(text, []byte("Renamed")) {
			t.Errorf("the slow reader got %d bytes that end with %.80s: %v", len(text), text[max(0, len(text)-80):], err)
		}
		eventually(t, "the room is not free", func() bool { return s.Spool.Used() == 0 })
		eventually(t, "Bob's exports still count", func() bool {
			return bob.Call("export_board", apptest.Fields{"boardId": id}).Status == http.StatusOK
		})
	})
}

// A reader that receives almost nothing is disconnected.
func TestTooSlowReadersAreDisconnected(t *testing.T) {
	t.Parallel()
	apptest.BothWith(t, apptest.Options{SlowWindow: time.Second}, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		id := bigBoard(t, ada, workspace)
		c := connect(t, listen(t, s), exportOf(ada.Token, id))
		eventually(t, "the export is not spooled", func() bool { return s.Spool.Used() > 0 })
		eventually(t, "the export goes on", func() bool { return s.Spool.Used() == 0 })
		text, err := io.ReadAll(c)
		if bytes.Contains(text, []byte(`"complete":true}`)) {
			t.Errorf("the reader got all %d bytes: %v", len(text), err)
		}
	})
}

// An export that does not fit into the spool fails before its first byte, or ends early.
func TestExportsBeyondTheSpoolLimitEndEarly(t *testing.T) {
	t.Parallel()
	const limit = 9 << 20
	s := apptest.New(t, t.TempDir()+"/cardwall.db", apptest.Options{SpoolLimit: limit})
	ada := s.Person("Ada")
	workspace := ada.Workspace("Engines", board.PlanTeam)
	id := bigBoard(t, ada, workspace)
	c := connect(t, listen(t, s), exportOf(ada.Token, id))
	// One export may leave a quarter of the limit unread, of which 1 MB is in memory.
	eventually(t, "the export does not reach the limit", func() bool { return s.Spool.Used() > limit/4-1<<20-128<<10 })
	time.Sleep(500 * time.Millisecond)
	_ = c.SetReadBuffer(1 << 20)
	text, _ := io.ReadAll(c)
	if bytes.Contains(text, []byte(`"complete":true}`)) {
		t.Errorf("the reader got %d bytes", len(text))
	}
	eventually(t, "the room is not free", func() bool { return s.Spool.Used() == 0 })
	ada.Must("get_board", apptest.Fields{"boardId": id})
}

// A person can run two uploads at a time. A cancelled upload frees its space at once, and a very
// slow one is ended.
func TestUploadsAreBounded(t *testing.T) {
	t.Parallel()
	apptest.BothWith(t, apptest.Options{SlowWindow: 2 * time.Second, SpoolLimit: 8 << 20}, func(t *testing.T, s *apptest.Service) {
		ada, bob := s.Person("Ada"), s.Person("Bob")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		bob.Joins(workspace, board.WorkspaceMember)
		address := listen(t, s)
		const part = 3 << 20
		head := importInto(ada.Token, workspace, 50<<20)
		var open []*net.TCPConn
		for range 2 {
			c := connect(t, address, head)
			if _, err := c.Write(make([]byte, part)); err != nil {
				t.Fatal(err)
			}
			open = append(open, c)
		}
		eventually(t, "the uploads are not spooled", func() bool { return s.Spool.Used() >= 2*part })
		status, lines := upload(ada, workspace, "trello", "application/json", trelloOf(1))
		if status != http.StatusTooManyRequests || lines[0].Error == nil {
			t.Errorf("a third upload: %d %+v", status, lines)
		}
		if status, lines := upload(bob, workspace, "trello", "application/json", trelloOf(1)); status != http.StatusCreated {
			t.Errorf("another person's upload: %d %+v", status, lines)
		}
		long := strings.ReplaceAll(trelloOf(1000), `"desc":""`, `"desc":"`+strings.Repeat("x", 3000)+`"`)
		if status, lines := upload(bob, workspace, "trello", "application/json", long); status != http.StatusServiceUnavailable {
			t.Errorf("an upload that does not fit: %d %+v", status, lines)
		}
		_ = open[0].Close()
		eventually(t, "a cancelled upload keeps its room", func() bool { return s.Spool.Used() <= part })
		var dripping sync.WaitGroup
		dripping.Go(func() {
			for {
				if _, err := open[1].Write([]byte(" ")); err != nil {
					return
				}
				time.Sleep(50 * time.Millisecond)
			}
		})
		response, err := http.ReadResponse(bufio.NewReader(open[1]), nil)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(response.Body)
		if response.StatusCode != http.StatusBadRequest || !bytes.Contains(text, []byte(`"reason":"too_slow"`)) {
			t.Errorf("a very slow upload: %d %s", response.StatusCode, text)
		}
		_ = open[1].Close()
		dripping.Wait()
		eventually(t, "an ended upload keeps its room", func() bool { return s.Spool.Used() == 0 })
		if status, lines := upload(ada, workspace, "trello", "application/json", trelloOf(1)); status != http.StatusCreated {
			t.Errorf("afterwards: %d %+v", status, lines)
		}
	})
}
