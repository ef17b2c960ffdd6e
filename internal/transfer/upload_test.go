package transfer_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

// uploadLine is a line of the response to an upload.
type uploadLine struct {
	Progress *struct{ Done, Total int }
	Data     *struct {
		Boards []struct {
			Name  string
			Cards int
		}
	}
	Error *struct{ Code, Message string }
}

// upload sends a file for import. It returns the status and the lines of the response.
func upload(p *apptest.Person, workspaceID, format, accept, file string, keys ...string) (status int, lines []uploadLine) {
	p.T.Helper()
	r := httptest.NewRequest(http.MethodPost, "/api/app/v1/workspaces/"+workspaceID+"/import?format="+format, strings.NewReader(file))
	r.Header.Set("Authorization", "Bearer "+p.Token)
	r.Header.Set("Accept", accept)
	for _, key := range keys {
		r.Header.Add("Idempotency-Key", key)
	}
	w := httptest.NewRecorder()
	p.Handler.ServeHTTP(w, r)
	for line := range bytes.Lines(w.Body.Bytes()) {
		var l uploadLine
		if err := json.Unmarshal(line, &l, json.MatchCaseInsensitiveNames(true)); err != nil {
			p.T.Fatalf("decode the line %q: %v", line, err)
		}
		lines = append(lines, l)
	}
	if len(lines) == 0 {
		p.T.Fatalf("got status %d and no lines", w.Code)
	}
	return w.Code, lines
}

// trelloOf returns a Trello export of a board with the given number of cards.
func trelloOf(cards int) string {
	var b strings.Builder
	b.WriteString(`{"id":"b00000000000000000000000","name":"Large","lists":[{"id":"a00000000000000000000000","name":"All",` +
		`"closed":false,"pos":1}],"cards":[`)
	for i := range cards {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":"c%023d","idShort":%d,"idList":"a00000000000000000000000","name":"Card %d","desc":"","closed":false,`+
			`"pos":%d}`, i, i+1, i, i+1)
	}
	return b.String() + "]}"
}

func TestUploadReportsProgress(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		const cards = 4000
		// The cards have descriptions. Otherwise a fast machine imports them all before it
		// reports any progress.
		long := strings.ReplaceAll(trelloOf(cards), `"desc":""`, `"desc":"`+strings.Repeat("what is said of it ", 60)+`"`)
		ada := s.Person("Ada")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		status, lines := upload(ada, workspace, "trello", "application/x-ndjson", long)
		last := lines[len(lines)-1]
		if status != http.StatusOK || len(lines) < 2 || last.Data == nil || last.Data.Boards[0].Cards != cards {
			t.Fatalf("got status %d, %d lines, the last %+v; want 200, progress and a report", status, len(lines), last)
		}
		before := 0
		for _, l := range lines[:len(lines)-1] {
			if l.Progress == nil || l.Progress.Done < before || l.Progress.Done > cards || l.Progress.Total != 0 && l.Progress.Total != cards {
				t.Errorf("got the progress %+v, want from %d to %d of %d records", l.Progress, before, cards, cards)
			}
			before = l.Progress.Done
		}
		if before == 0 {
			t.Errorf("got %d lines without progress, want at least one with progress", len(lines))
		}

		// A file that is truncated near its end: the last line is an error, and nothing is imported.
		// A fast machine refuses it before it reports any progress.
		id := ada.All("list_boards", "id", apptest.Fields{"workspaceId": workspace})[0]
		export := string(ada.Must("export_board", apptest.Fields{"boardId": id}).Raw)
		status, lines = upload(ada, workspace, "cardwall", "application/x-ndjson", export[:len(export)-40])
		last = lines[len(lines)-1]
		if status != http.StatusOK && status != http.StatusBadRequest || last.Error == nil ||
			last.Error.Code != "invalid_request" || last.Error.Message == "" {
			t.Errorf("truncated file: got status %d, %d lines, the last %+v; want invalid_request", status, len(lines), last)
		}
		if boards := ada.All("list_boards", "id", apptest.Fields{"workspaceId": workspace}); len(boards) != 1 {
			t.Errorf("after a truncated file: got the boards %v, want 1", boards)
		}
	})
}

func TestUploadWithoutProgress(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		for _, c := range []struct {
			workspace, format, accept, file string
			status                          int
			code                            string
		}{
			{workspace, "trello", "application/json", trelloOf(3), http.StatusCreated, ""},
			// These are rejected before any progress is reported.
			{workspace, "trello", "application/x-ndjson", "{}", http.StatusBadRequest, "invalid_request"},
			{workspace, "jira", "application/x-ndjson", "{}", http.StatusBadRequest, "invalid_request"},
			{"wsp_0", "trello", "application/x-ndjson", trelloOf(3), http.StatusNotFound, "not_found"},
		} {
			status, lines := upload(ada, c.workspace, c.format, c.accept, c.file)
			if status != c.status || len(lines) != 1 || (lines[0].Error == nil) != (c.code == "") || c.code != "" && lines[0].Error.Code != c.code {
				t.Errorf("%.20s as %s, Accept %s: got status %d, lines %+v; want %d %s", c.file, c.format, c.accept, status, lines,
					c.status, c.code)
			}
		}
	})
}

// If the job of an import does not end in time, the response is the job, with the status 202.
func TestUploadReturnsTheUnfinishedJob(t *testing.T) {
	t.Parallel()
	apptest.BothWith(t, apptest.Options{NoJobs: true, JobWait: time.Millisecond}, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		status, _ := upload(ada, workspace, "trello", "application/json", trelloOf(4000))
		states := ada.All("list_jobs", "state", apptest.Fields{"workspaceId": workspace})
		if status != http.StatusAccepted || !slices.Equal(states, []string{"queued"}) {
			t.Errorf("got status %d and jobs in the states %v, want 202 and one queued job", status, states)
		}
	})
}

// A person's imports wait in line, as other jobs do, until there are as many jobs as the plan allows.
func TestImportsWaitInLine(t *testing.T) {
	t.Parallel()
	apptest.BothWith(t, apptest.Options{NoJobs: true, JobWait: time.Millisecond}, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		workspace := ada.Workspace("Engines", board.PlanFree)
		for n := range board.PlanFree.Limits().JobsPerPerson + 1 {
			status, lines := upload(ada, workspace, "trello", "application/json", trelloOf(4000))
			full := n == board.PlanFree.Limits().JobsPerPerson
			if full && (lines[0].Error == nil || lines[0].Error.Code != string(board.CodeLimitReached)) || !full && status != http.StatusAccepted {
				t.Errorf("import %d: got status %d, lines %+v; want it refused: %t", n+1, status, lines, full)
			}
		}
	})
}

// A page that loses its connection sends the file again. The file is imported once.
func TestUploadWithIdempotencyKeyIsImportedOnce(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada, bob := s.Person("Ada"), s.Person("Bob")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		bob.Joins(workspace, board.WorkspaceMember)
		refused := func(what string, code board.Code, p *apptest.Person, format, file string, keys ...string) {
			t.Helper()
			if status, lines := upload(p, workspace, format, "application/json", file, keys...); lines[0].Error == nil ||
				lines[0].Error.Code != string(code) {
				t.Errorf("%s: got status %d, lines %+v; want %s", what, status, lines, code)
			}
		}
		boards := func() int { return len(ada.All("list_boards", "id", apptest.Fields{"workspaceId": workspace})) }

		refused("an invalid file", board.CodeInvalidRequest, ada, "trello", "{}", "k1")
		for range 3 {
			status, lines := upload(ada, workspace, "trello", "application/json", trelloOf(3), "k1")
			if status != http.StatusCreated || lines[0].Data == nil || lines[0].Data.Boards[0].Name != "Large" ||
				lines[0].Data.Boards[0].Cards != 3 {
				t.Fatalf("got status %d, lines %+v; want 201 and a report", status, lines)
			}
		}
		if n := boards(); n != 1 {
			t.Errorf("after sending the same file three times: got %d boards, want 1", n)
		}
		refused("another file", board.CodeInvalidRequest, ada, "trello", trelloOf(4), "k1")
		refused("another format", board.CodeInvalidRequest, ada, "cardwall", trelloOf(3), "k1")
		refused("two keys", board.CodeInvalidRequest, ada, "trello", trelloOf(3), "k2", "k3")
		refused("an invalid key", board.CodeInvalidRequest, ada, "trello", trelloOf(3), "a key")
		if n := boards(); n != 1 {
			t.Errorf("after rejected uploads: got %d boards, want 1", n)
		}
		if status, lines := upload(bob, workspace, "trello", "application/json", trelloOf(3), "k1"); status != http.StatusCreated ||
			boards() != 2 {
			t.Errorf("upload by another person with the same key: got status %d, lines %+v; want 201", status, lines)
		}
	})
}

// vanishingClient disconnects when it receives a second line with the same text.
type vanishingClient struct {
	*httptest.ResponseRecorder
	text       string
	seen       int
	disconnect func()
}

func (c *vanishingClient) Write(line []byte) (int, error) {
	if strings.Contains(string(line), c.text) {
		if c.seen++; c.seen == 2 {
			c.disconnect()
		}
	}
	return c.ResponseRecorder.Write(line)
}

// failingLog is a log in which every line is a failure of the test.
type failingLog struct{ t *testing.T }

func (l failingLog) Write(line []byte) (int, error) {
	l.t.Errorf("got the log line %s, want none", line)
	return len(line), nil
}

// A client that disconnects during an import is not an error of the server.
func TestClientThatDisconnectsDuringAnImport(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, t.TempDir()+"/cardwall.db",
		apptest.Options{NoJobs: true, Log: slog.New(slog.NewTextHandler(failingLog{t}, &slog.HandlerOptions{Level: slog.LevelError}))})
	ada := s.Person("Ada")
	workspace := ada.Workspace("Engines", board.PlanTeam)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	path := "/api/app/v1/workspaces/" + workspace + "/import?format=trello"
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, path, strings.NewReader(trelloOf(4000)))
	r.Header.Set("Authorization", "Bearer "+ada.Token)
	r.Header.Set("Accept", "application/x-ndjson")
	// Reading the file is the first quarter of the progress. The job that writes the cards never starts.
	w := &vanishingClient{ResponseRecorder: httptest.NewRecorder(), text: `"done":1000`, disconnect: cancel}
	ada.Handler.ServeHTTP(w, r)
	lines := strings.Split(strings.TrimSpace(w.Body.String()), "\n")
	if last := lines[len(lines)-1]; len(lines) < 2 || !strings.HasPrefix(last, `{"error":{"code":"unavailable"`) {
		t.Errorf("got %d lines, the last %s; want progress and unavailable", len(lines), last)
	}
}
