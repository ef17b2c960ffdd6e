// Package limits shows what the machine can do with little software. It contains a bare server, which only reads cards
// and encodes them, a bare client, which sends requests like deliveries, and a SQLite database without a server.
// Benchmarks of Cardwall are compared with them.
package limits

import (
	"context"
	"crypto/sha256"
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
	"time"

	"github.com/go-json-experiment/json"

	"cardwall/perf/document"
	"cardwall/perf/process"
	"cardwall/perf/server"
)

// ServerCommand is the first command-line argument of a program that runs as the bare server. StartServer starts its
// own program with this argument, and main must then call RunServer.
const ServerCommand = "limit-server"

// The bare server's database has Rows cards. A page has PageSize cards.
const (
	Rows     = 10_000
	PageSize = 50
)

// Card has most of the fields that a card has in the API.
type Card struct {
	ID          string  `json:"id"`
	BoardID     string  `json:"boardId"`
	ListID      string  `json:"listId"`
	Number      int     `json:"number"`
	Title       string  `json:"title"`
	Description string  `json:"description"`
	Done        bool    `json:"done"`
	DoneAt      *string `json:"doneAt"`
	ArchivedAt  *string `json:"archivedAt"`
	Labels      []label `json:"labels"`
	Assignees   []label `json:"assignees"`
	DueDate     *string `json:"dueDate"`
	DueAt       *string `json:"dueAt"`
	Items       items   `json:"checklistItems"`
	Comments    int     `json:"comments"`
	CreatedBy   string  `json:"createdBy"`
	CreatedAt   string  `json:"createdAt"`
	UpdatedAt   string  `json:"updatedAt"`
	URL         string  `json:"url"`
}

type label struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

type items struct {
	Done  int `json:"done"`
	Total int `json:"total"`
}

type page struct {
	Data       []Card `json:"data"`
	NextCursor string `json:"nextCursor,omitzero"`
}

// NewCard returns the bare server's card number n.
func NewCard(n int) Card {
	c := Card{
		ID: "crd_" + fmt.Sprintf("%026d", n), BoardID: "brd_01j9z3k4m5n6p7q8r9s0t1v2w3",
		ListID: "lst_01j9z3k4m5n6p7q8r9s0t1v2w3", Number: n, Title: "Card " + strconv.Itoa(n),
		Description: document.Text, Labels: []label{}, Assignees: []label{},
		CreatedBy: "usr_01j9z3k4m5n6p7q8r9s0t1v2w3", CreatedAt: "2026-01-02T03:04:05.678Z",
		UpdatedAt: "2026-01-02T03:04:05.678Z", URL: "http://127.0.0.1/cards/" + strconv.Itoa(n),
	}
	if n%5 == 0 {
		c.Labels = append(c.Labels, label{"lbl_01j9z3k4m5n6p7q8r9s0t1v2w3", "Urgent"})
	}
	return c
}

// StartServer starts this program a second time as the bare server, with its database in dir, and returns the process
// and its address. The server exits when this program does. The caller must stop it. If the server does not respond in
// time, StartServer stops it, with stopTimeout as the time limit.
func StartServer(ctx context.Context, dir string, stopTimeout time.Duration) (*process.Process, string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, "", fmt.Errorf("find this program: %w", err)
	}
	addr, err := process.FreeAddress()
	if err != nil {
		return nil, "", err
	}
	cmd := exec.Command(self, ServerCommand, addr, dir)
	cmd.Stderr = os.Stderr
	// The bare server exits when its standard input is closed, so the pipe must stay open.
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

// RunServer runs the bare server until it receives SIGINT or SIGTERM, or its standard input is closed. It creates a
// database in dir and serves these paths with net/http, a JSON encoder and SQLite:
//
//	/hello           a few bytes
//	/memory          50 cards, encoded from memory
//	/rows?cursor=ID  the 50 cards after a card, read from SQLite; without a cursor, the first 50 cards
//	/rows/{id}       one card, read from SQLite
//	/file            a file; PUT hashes it, writes it to disk and syncs it
func RunServer(addr, dir string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	go func() {
		io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	db, err := openRows(ctx, filepath.Join(dir, "rows.db"))
	if err != nil {
		return err
	}
	defer db.Close()
	rows, err := prepareReads(ctx, db)
	if err != nil {
		return err
	}

	cards := make([]Card, PageSize)
	for i := range cards {
		cards[i] = NewCard(i + 1)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /hello", func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "hello")
	})
	mux.HandleFunc("GET /memory", func(w http.ResponseWriter, _ *http.Request) {
		respond(w, page{Data: cards, NextCursor: cards[len(cards)-1].ID}, nil)
	})
	mux.HandleFunc("GET /rows", func(w http.ResponseWriter, r *http.Request) {
		found, err := rows.page(r.Context(), r.FormValue("cursor"))
		respond(w, found, err)
	})
	mux.HandleFunc("GET /rows/{id}", func(w http.ResponseWriter, r *http.Request) {
		card, err := rows.card(r.Context(), r.PathValue("id"))
		respond(w, struct {
			Data Card `json:"data"`
		}{card}, err)
	})

	file := filepath.Join(dir, "file")
	mux.HandleFunc("GET /file", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, file) })
	mux.HandleFunc("PUT /file", func(w http.ResponseWriter, r *http.Request) {
		respond(w, struct{}{}, writeFile(file, r.Body))
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

// writeFile hashes content, writes it to a file and syncs the file.
func writeFile(path string, content io.Reader) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, io.TeeReader(content, sha256.New()))
	return errors.Join(err, file.Sync(), file.Close())
}

// respond writes v as JSON with a Content-Length header. If err is not nil, it writes the error instead.
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

// reads holds the prepared statements of the bare server.
type reads struct{ pageRows, cardRow *sql.Stmt }

func prepareReads(ctx context.Context, db *sql.DB) (*reads, error) {
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
	return &reads{pageRows, cardRow}, nil
}

func (r *reads) page(ctx context.Context, after string) (page, error) {
	out := page{Data: make([]Card, 0, PageSize)}
	rows, err := r.pageRows.QueryContext(ctx, NewCard(0).BoardID, after, PageSize+1)
	if err != nil {
		return out, fmt.Errorf("read page: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		if len(out.Data) == PageSize {
			out.NextCursor = out.Data[PageSize-1].ID
			break
		}
		card, err := scanCard(rows.Scan)
		if err != nil {
			return out, err
		}
		out.Data = append(out.Data, card)
	}
	return out, rows.Err()
}

func (r *reads) card(ctx context.Context, id string) (Card, error) {
	return scanCard(r.cardRow.QueryRowContext(ctx, NewCard(0).BoardID, id).Scan)
}

func scanCard(scan func(...any) error) (Card, error) {
	c := Card{Assignees: []label{}, Labels: []label{}}
	var urgent string
	err := scan(&c.ID, &c.BoardID, &c.ListID, &c.Number, &c.Title, &c.Description, &c.Done, &urgent,
		&c.CreatedBy, &c.CreatedAt, &c.UpdatedAt)
	if err != nil {
		return c, fmt.Errorf("read card: %w", err)
	}
	if urgent != "" {
		c.Labels = append(c.Labels, label{urgent, "Urgent"})
	}
	return c, nil
}
