package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"

	"github.com/go-json-experiment/json"

	"cardwall/perf/document"
	"cardwall/perf/process"
	"cardwall/perf/server"
)

// limitServerCommand as the first argument turns this program into the bare server, which measures the limits of net/http.
const limitServerCommand = "limit-server"

// limitRows is how many cards the bare server has in its database.
const limitRows = 10_000

// limitCard has the same fields as a card in the API.
type limitCard struct {
	ID          string       `json:"id"`
	BoardID     string       `json:"boardId"`
	ListID      string       `json:"listId"`
	Number      int          `json:"number"`
	Title       string       `json:"title"`
	Description string       `json:"description"`
	Done        bool         `json:"done"`
	DoneAt      *string      `json:"doneAt"`
	ArchivedAt  *string      `json:"archivedAt"`
	Labels      []limitLabel `json:"labels"`
	Assignees   []limitLabel `json:"assignees"`
	DueDate     *string      `json:"dueDate"`
	DueAt       *string      `json:"dueAt"`
	Items       limitItems   `json:"checklistItems"`
	Comments    int          `json:"comments"`
	CreatedBy   string       `json:"createdBy"`
	CreatedAt   string       `json:"createdAt"`
	UpdatedAt   string       `json:"updatedAt"`
	URL         string       `json:"url"`
}

type limitLabel struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

type limitItems struct {
	Done  int `json:"done"`
	Total int `json:"total"`
}

type limitPage struct {
	Data       []limitCard `json:"data"`
	NextCursor string      `json:"nextCursor,omitzero"`
}

// newLimitCard returns card number n of the bare server.
func newLimitCard(n int) limitCard {
	c := limitCard{
		ID: "crd_" + fmt.Sprintf("%026d", n), BoardID: "brd_01j9z3k4m5n6p7q8r9s0t1v2w3",
		ListID: "lst_01j9z3k4m5n6p7q8r9s0t1v2w3", Number: n, Title: "Card " + strconv.Itoa(n),
		Description: document.Text, Labels: []limitLabel{}, Assignees: []limitLabel{},
		CreatedBy: "usr_01j9z3k4m5n6p7q8r9s0t1v2w3", CreatedAt: "2026-01-02T03:04:05.678Z",
		UpdatedAt: "2026-01-02T03:04:05.678Z", URL: "http://127.0.0.1/cards/" + strconv.Itoa(n),
	}
	if n%5 == 0 {
		c.Labels = append(c.Labels, limitLabel{"lbl_01j9z3k4m5n6p7q8r9s0t1v2w3", "Urgent"})
	}
	return c
}

// startLimitServer starts this program as the bare server and returns its address. The server also ends when this program
// ends.
func startLimitServer(ctx context.Context, dir string) (*process.Process, string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, "", fmt.Errorf("find this program: %w", err)
	}
	addr, err := process.FreeAddress()
	if err != nil {
		return nil, "", err
	}
	cmd := exec.Command(self, limitServerCommand, addr, dir)
	cmd.Stderr = os.Stderr
	// The bare server ends when its standard input is closed, so the pipe must stay open.
	if _, err := cmd.StdinPipe(); err != nil {
		return nil, "", fmt.Errorf("start bare server: %w", err)
	}
	p, err := process.Start(cmd, "")
	if err != nil {
		return nil, "", err
	}
	if err := server.Await(ctx, p, addr, "/hello"); err != nil {
		return nil, "", errors.Join(fmt.Errorf("start bare server: %w", err), p.Stop(stopTimeout))
	}
	return p, addr, nil
}

// runLimitServer runs the bare server, which does as little as possible with net/http, a JSON encoder and SQLite.
//
//	/hello                a few bytes
//	/memory               50 cards, encoded from memory
//	/rows?limit=50&cursor a page of 50 cards, read from SQLite
//	/rows/{id}            one card, read from SQLite
func runLimitServer(addr, dir string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	go func() {
		io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	db, err := openLimitRows(ctx, filepath.Join(dir, "rows.db"))
	if err != nil {
		return err
	}
	defer db.Close()
	reads, err := prepareReads(ctx, db)
	if err != nil {
		return err
	}

	cards := make([]limitCard, pageSize)
	for i := range cards {
		cards[i] = newLimitCard(i + 1)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /hello", func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "hello")
	})
	mux.HandleFunc("GET /memory", func(w http.ResponseWriter, _ *http.Request) {
		respond(w, limitPage{Data: cards, NextCursor: cards[len(cards)-1].ID}, nil)
	})
	mux.HandleFunc("GET /rows", func(w http.ResponseWriter, r *http.Request) {
		page, err := reads.page(r.Context(), r.FormValue("cursor"))
		respond(w, page, err)
	})
	mux.HandleFunc("GET /rows/{id}", func(w http.ResponseWriter, r *http.Request) {
		card, err := reads.card(r.Context(), r.PathValue("id"))
		respond(w, struct {
			Data limitCard `json:"data"`
		}{card}, err)
	})

	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	server := &http.Server{Handler: mux}
	go func() {
		<-ctx.Done()
		server.Close()
	}()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}

// respond writes v as JSON with a Content-Length.
func respond(w http.ResponseWriter, v any, err error) {
	if err == nil {
		var body []byte
		if body, err = json.Marshal(v); err == nil {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", strconv.Itoa(len(body)))
			w.Write(body)
			return
		}
	}
	http.Error(w, err.Error(), http.StatusInternalServerError)
}

// limitReads are the two statements of the bare server.
type limitReads struct{ pageRows, cardRow *sql.Stmt }

func prepareReads(ctx context.Context, db *sql.DB) (*limitReads, error) {
	db.SetMaxOpenConns(runtime.GOMAXPROCS(0))
	db.SetMaxIdleConns(runtime.GOMAXPROCS(0))
	const columns = `SELECT id, board, list, number, title, description, done, labels, created_by, created_at, updated_at FROM card `
	pageRows, err := db.PrepareContext(ctx, columns+`WHERE board = $1 AND id > $2 ORDER BY id LIMIT $3`)
	if err != nil {
		return nil, fmt.Errorf("prepare page: %w", err)
	}
	cardRow, err := db.PrepareContext(ctx, columns+`WHERE board = $1 AND id = $2`)
	if err != nil {
		return nil, fmt.Errorf("prepare card: %w", err)
	}
	return &limitReads{pageRows, cardRow}, nil
}

func (r *limitReads) page(ctx context.Context, after string) (limitPage, error) {
	page := limitPage{Data: make([]limitCard, 0, pageSize)}
	rows, err := r.pageRows.QueryContext(ctx, newLimitCard(0).BoardID, after, pageSize+1)
	if err != nil {
		return page, fmt.Errorf("read page: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		if len(page.Data) == pageSize {
			page.NextCursor = page.Data[pageSize-1].ID
			break
		}
		card, err := scanCard(rows.Scan)
		if err != nil {
			return page, err
		}
		page.Data = append(page.Data, card)
	}
	return page, rows.Err()
}

func (r *limitReads) card(ctx context.Context, id string) (limitCard, error) {
	return scanCard(r.cardRow.QueryRowContext(ctx, newLimitCard(0).BoardID, id).Scan)
}

func scanCard(scan func(...any) error) (limitCard, error) {
	c := limitCard{Assignees: []limitLabel{}, Labels: []limitLabel{}}
	var label string
	err := scan(&c.ID, &c.BoardID, &c.ListID, &c.Number, &c.Title, &c.Description, &c.Done, &label,
		&c.CreatedBy, &c.CreatedAt, &c.UpdatedAt)
	if err != nil {
		return c, fmt.Errorf("read card: %w", err)
	}
	if label != "" {
		c.Labels = append(c.Labels, limitLabel{label, "Urgent"})
	}
	return c, nil
}
