package transfer_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"cardwall/internal/app"
	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/spool"
	"cardwall/internal/store"
)

// listen serves s on 127.0.0.1 with small buffers, so that a slow reader soon blocks the server's
// writes. It returns the address, and a channel that receives a value for each connection that
// the server has closed.
func listen(t *testing.T, s *apptest.Service) (address string, closed <-chan struct{}) {
	t.Helper()
	server := httptest.NewUnstartedServer(s.Handler)
	closes := make(chan struct{}, 64)
	server.Config.ConnState = func(c net.Conn, state http.ConnState) {
		if tcp, ok := c.(*net.TCPConn); ok && state == http.StateNew {
			_ = tcp.SetWriteBuffer(16 << 10)
		}
		if state == http.StateClosed {
			closes <- struct{}{}
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	return server.Listener.Addr().String(), closes
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

// exportOf returns the head of an export request. The server closes the connection after the
// response, so that a test can read to the end.
func exportOf(token, boardID string) string {
	return "GET /api/public/v1/boards/" + boardID + "/export HTTP/1.1\nHost: x\nConnection: close\nAuthorization: Bearer " + token
}

func importInto(token, workspaceID string, size int) string {
	return fmt.Sprintf("POST /api/app/v1/workspaces/%s/import?format=trello HTTP/1.1\nHost: x\nAuthorization: Bearer %s\n"+
		"Content-Length: %d", workspaceID, token, size)
}

// bigBoard imports a board whose export is about 3 MB long, and returns the board's id.
func bigBoard(t *testing.T, p *apptest.Person, workspace string) (boardID string) {
	t.Helper()
	file := strings.ReplaceAll(trelloOf(750), `"desc":""`, `"desc":"`+strings.Repeat("what is said of it ", 200)+`"`)
	status, lines := upload(p, workspace, "trello", "application/x-ndjson", file) // the last line is the report
	if lines[len(lines)-1].Data == nil {
		t.Fatalf("import: %d %+v", status, lines)
	}
	return p.All("list_boards", "id", apptest.Fields{"workspaceId": workspace})[0]
}

// Slow readers of exports use only disk space. Meanwhile, other people can read reports, export
// and write. An export does not contain changes made after it was read from the database.
func TestSlowExportsDoNotBlockOthers(t *testing.T) {
	t.Parallel()
	apptest.BothWith(t, apptest.Options{SlowWindow: time.Hour}, func(t *testing.T, s *apptest.Service) {
		ada, bob, eve := s.Person("Ada"), s.Person("Bob"), s.Person("Eve")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		bob.Joins(workspace, board.WorkspaceMember)
		eve.Joins(workspace, board.WorkspaceMember)
		id := bigBoard(t, ada, workspace)
		address, _ := listen(t, s)
		var slow []*net.TCPConn
		for _, p := range []*apptest.Person{ada, ada, bob, bob} {
			slow = append(slow, connect(t, address, exportOf(p.Token, id)))
		}
		apptest.Eventually(t, "the exports are spooled", func() bool { return s.Spool.Used() > 4<<20 })
		for _, p := range []*apptest.Person{ada, bob} {
			a := p.Call("export_board", apptest.Fields{"boardId": id})
			if a.Status != http.StatusTooManyRequests || !strings.Contains(string(a.Raw), string(board.ReasonTooManyAtOnce)) {
				t.Errorf("third export by %s: got status %d, body %.100s; want 429 with too_many_at_once", p.Name, a.Status, a.Raw)
			}
		}
		// Requests that waited for a slow reader would wait until the end of the test.
		eve.Must("search_cards", apptest.Fields{"q": "said"})
		eve.Must("get_my_overview", nil)
		eve.Must("get_workspace_dashboard", apptest.Fields{"workspaceId": workspace})
		eve.Must("export_board", apptest.Fields{"boardId": id})
		ada.Must("update_board", apptest.Fields{"boardId": id, "name": "Renamed"})
		for _, c := range slow[1:] { // cancels the exports
			_ = c.Close()
		}
		_ = slow[0].SetReadBuffer(1 << 20)
		response, err := http.ReadResponse(bufio.NewReader(slow[0]), nil)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(response.Body)
		if err != nil || !bytes.HasSuffix(bytes.TrimSpace(text), []byte(`"complete":true}`)) || bytes.Contains(text, []byte("Renamed")) {
			t.Errorf("slow reader: got error %v and %d bytes that end with %.80s, want a complete document without the new name",
				err, len(text), text[max(0, len(text)-80):])
		}
		apptest.Eventually(t, "the spool is empty", func() bool { return s.Spool.Used() == 0 })
		apptest.Eventually(t, "Bob's canceled exports have ended", func() bool {
			return bob.Call("export_board", apptest.Fields{"boardId": id}).Status == http.StatusOK
		})
	})
}

// An export of a workspace that waited for its reader omits boards that became confidential in the
// meantime.
func TestPausedExportOmitsConfidentialBoards(t *testing.T) {
	t.Parallel()
	const limit = 4 << 20 // of unread bytes; the export pauses between boards if half of it is unread
	apptest.BothWith(t, apptest.Options{SlowWindow: time.Hour, SpoolLimit: 4 * limit}, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		bigBoard(t, ada, workspace)
		apptest.Eventually(t, "the spool is empty", func() bool { return s.Spool.Used() == 0 })
		var later []string
		for _, name := range []string{"Plans", "Open"} {
			id := ada.Must("create_board", apptest.Fields{"workspaceId": workspace, "name": name}).ID()
			ada.Must("create_list", apptest.Fields{"boardId": id, "name": "List of " + name})
			later = append(later, id)
		}
		address, _ := listen(t, s)
		c := connect(t, address, "GET /api/public/v1/workspaces/"+workspace+"/export HTTP/1.1\nHost: x\nConnection: close\n"+
			"Authorization: Bearer "+ada.Token)
		used, same := int64(0), 0 // 1 MiB is in memory and not counted
		apptest.Eventually(t, "the export waits for its reader", func() bool {
			before := used
			if used = s.Spool.Used(); used != before {
				same = 0
			}
			same++
			return used > 1<<20 && same > 10
		})
		ada.Must("update_board", apptest.Fields{"boardId": later[0], "visibility": "confidential"})
		_ = c.SetReadBuffer(1 << 20)
		response, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(response.Body)
		if err != nil || !bytes.HasSuffix(bytes.TrimSpace(text), []byte(`"complete":true}`)) || bytes.Contains(text, []byte("Plans")) ||
			!bytes.Contains(text, []byte("List of Open")) {
			t.Errorf("got error %v and %d bytes that end with %.1500s, want a complete document with the board Open and without Plans",
				err, len(text), text[max(0, len(text)-1500):])
		}
	})
}

// A reader that receives almost nothing is disconnected.
func TestTooSlowReadersAreDisconnected(t *testing.T) {
	t.Parallel()
	apptest.BothWith(t, apptest.Options{SlowWindow: time.Second}, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		id := bigBoard(t, ada, workspace)
		address, closed := listen(t, s)
		c := connect(t, address, exportOf(ada.Token, id))
		<-closed
		apptest.Eventually(t, "the spool is empty", func() bool { return s.Spool.Used() == 0 })
		text, err := io.ReadAll(c)
		if bytes.Contains(text, []byte(`"complete":true}`)) {
			t.Errorf("got the complete document of %d bytes, error %v; want an aborted response", len(text), err)
		}
	})
}

// An export that does not fit into the spool ends early. The reader notices that it is incomplete.
func TestExportsBeyondTheSpoolLimitEndEarly(t *testing.T) {
	t.Parallel()
	failed := make(chan error, 1)
	endless := func() *op.Registry {
		r := app.Operations()
		r.In("Tests", "Operations for a test.")
		op.Stream(r, "export_endlessly", "GET /endless", "Write a document without end.",
			func(_ context.Context, _ *store.View, _ app.Nothing, w io.Writer) (err error) {
				for line := bytes.Repeat([]byte("[]\n"), 1000); err == nil; {
					_, err = w.Write(line)
				}
				failed <- err
				return err
			})
		return r
	}
	s := apptest.New(t, t.TempDir()+"/cardwall.db",
		apptest.Options{SpoolLimit: 9 << 20, SlowWindow: time.Hour, Registry: endless})
	ada := s.Person("Ada")
	workspace := ada.Workspace("Engines", board.PlanTeam)
	address, _ := listen(t, s)
	c := connect(t, address, "GET /api/public/v1/endless HTTP/1.1\nHost: x\nConnection: close\nAuthorization: Bearer "+ada.Token)
	if err := <-failed; !errors.Is(err, spool.ErrFull) { // the test has read nothing yet
		t.Errorf("write to the spool: got error %v, want ErrFull", err)
	}
	_ = c.SetReadBuffer(1 << 20) // a small buffer would make reading slow
	response, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(response.Body); err == nil || len(text) == 0 {
		t.Errorf("got %d bytes and error %v, want a document that is cut off", len(text), err)
	}
	apptest.Eventually(t, "the spool is empty", func() bool { return s.Spool.Used() == 0 })
	ada.Must("list_boards", apptest.Fields{"workspaceId": workspace})
}

// A person can run two uploads at a time. A canceled upload frees its space immediately.
func TestUploadsAreBounded(t *testing.T) {
	t.Parallel()
	apptest.BothWith(t, apptest.Options{SlowWindow: time.Hour, SpoolLimit: 8 << 20}, func(t *testing.T, s *apptest.Service) {
		ada, bob := s.Person("Ada"), s.Person("Bob")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		bob.Joins(workspace, board.WorkspaceMember)
		address, _ := listen(t, s)
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
		apptest.Eventually(t, "the uploads are spooled", func() bool { return s.Spool.Used() == 2*part })
		status, lines := upload(ada, workspace, "trello", "application/json", trelloOf(1))
		if status != http.StatusTooManyRequests || lines[0].Error == nil {
			t.Errorf("third upload: got status %d, lines %+v; want 429", status, lines)
		}
		if status, lines := upload(bob, workspace, "trello", "application/json", trelloOf(1)); status != http.StatusCreated {
			t.Errorf("upload by another person: got status %d, lines %+v; want 201", status, lines)
		}
		long := strings.ReplaceAll(trelloOf(1000), `"desc":""`, `"desc":"`+strings.Repeat("x", 3000)+`"`)
		if status, lines := upload(bob, workspace, "trello", "application/json", long); status != http.StatusServiceUnavailable {
			t.Errorf("upload that exceeds the spool: got status %d, lines %+v; want 503", status, lines)
		}
		for i, c := range open {
			_ = c.Close()
			apptest.Eventually(t, "the canceled upload uses no space", func() bool { return s.Spool.Used() == int64(1-i)*part })
		}
		apptest.Eventually(t, "the canceled uploads have ended", func() bool {
			status, _ := upload(ada, workspace, "trello", "application/json", trelloOf(1))
			return status == http.StatusCreated
		})
	})
}

// The server ends an upload that is too slow, and frees its space.
func TestTooSlowUploadsAreEnded(t *testing.T) {
	t.Parallel()
	apptest.BothWith(t, apptest.Options{SlowWindow: time.Second}, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		address, _ := listen(t, s)
		c := connect(t, address, importInto(ada.Token, workspace, 50<<20))
		stop := keepWriting(c)
		response, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(response.Body)
		if response.StatusCode != http.StatusBadRequest || !bytes.Contains(text, []byte(`"reason":"too_slow"`)) {
			t.Errorf("slow upload: got status %d, body %s; want 400 with too_slow", response.StatusCode, text)
		}
		_ = c.Close()
		stop()
		apptest.Eventually(t, "the ended upload uses no space", func() bool { return s.Spool.Used() == 0 })
	})
}

// keepWriting writes a byte about every 50 ms, until a write fails or stop is called.
func keepWriting(c io.Writer) (stop func()) {
	var writer sync.WaitGroup
	stopped := make(chan struct{})
	writer.Go(func() {
		pace := time.NewTicker(50 * time.Millisecond)
		defer pace.Stop()
		for {
			select {
			case <-stopped:
				return
			case <-pace.C:
			}
			if _, err := c.Write([]byte(" ")); err != nil {
				return
			}
		}
	})
	return func() {
		close(stopped)
		writer.Wait()
	}
}
