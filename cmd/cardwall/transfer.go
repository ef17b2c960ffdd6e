package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"sync"

	"cardwall/internal/board"
	"cardwall/internal/job"
	"cardwall/internal/store"
	"cardwall/internal/transfer"
)

type importCommand struct {
	Trello   importTrelloCommand   `cmd:"" help:"Import a board from a JSON export of Trello."`
	Cardwall importCardwallCommand `cmd:"" help:"Import a file written by cardwall export."`
}

// importFlags holds the flags of both import commands.
type importFlags struct {
	File      string `arg:"" help:"File to import, or - for standard input."`
	Workspace string `required:"" placeholder:"ID" help:"Workspace to import into."`
	As        string `placeholder:"EMAIL" help:"Person to import as (default: the owner of the workspace)."`
}

type importTrelloCommand struct{ importFlags }

func (importTrelloCommand) Help() string {
	return "Prints what was imported and what was skipped. An import does not send events.\n\n" +
		"Example:\n  cardwall import trello board.json --workspace wsp_01jb2m3n4p5q6r7s8t9v0w1x2y"
}

func (c *importTrelloCommand) Run(ctx context.Context, g *globals) error {
	return c.run(ctx, g, "trello")
}

type importCardwallCommand struct{ importFlags }

func (c *importCardwallCommand) Run(ctx context.Context, g *globals) error {
	return c.run(ctx, g, "cardwall")
}

// run imports the file. Like a server, it imports a large file in short
// transactions, so that a server on the same database can keep serving requests.
func (c *importFlags) run(ctx context.Context, g *globals, format string) error {
	file, err := c.open(g.stdin)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // opened only for reading
	return g.withStore(ctx, func(db *store.DB) error {
		var caller board.Caller
		if err := db.Read(ctx, board.System(), func(v *store.View) (err error) {
			caller, err = c.caller(ctx, v)
			return err
		}); err != nil {
			return err
		}
		working, stop := context.WithCancel(ctx)
		var running sync.WaitGroup
		defer running.Wait()
		defer stop()
		holder := store.NewID("srv_")
		jobs := job.New(job.Options{DB: db, Holder: holder, Log: g.log})
		imports := transfer.Importer{DB: db, Jobs: jobs, Holder: holder + ":upload", Log: g.log}
		bar := newProgress(g.stderr)
		report, err := imports.ImportFile(ctx, transfer.File{
			Format: format, WorkspaceID: c.Workspace, Caller: caller,
			Open:     func() io.Reader { return io.NewSectionReader(file, 0, math.MaxInt64) },
			Progress: bar.show,
			Queued:   func(id string) { running.Go(func() { jobs.RunOne(working, id) }) },
		})
		bar.end()
		if err != nil {
			return err
		}
		g.print("%s", strings.TrimSuffix(report.String(), "\n"))
		return nil
	})
}

// importFile is a file that can be read several times.
type importFile interface {
	io.ReaderAt
	io.Closer
}

// open opens the file, or reads all of standard input into memory.
func (c *importFlags) open(stdin io.Reader) (importFile, error) {
	if c.File != "-" {
		return os.Open(c.File)
	}
	text, err := io.ReadAll(stdin)
	if err != nil {
		return nil, fmt.Errorf("read standard input: %w", err)
	}
	return struct {
		io.ReaderAt
		io.Closer
	}{bytes.NewReader(text), io.NopCloser(nil)}, nil
}

// caller returns the person on whose behalf the import runs.
func (c *importFlags) caller(ctx context.Context, v *store.View) (board.Caller, error) {
	if c.As != "" {
		u, err := userByEmail(ctx, v, c.As)
		return board.Person(u.ID), err
	}
	if _, err := v.Workspace(ctx, c.Workspace, board.ViewWorkspace); err != nil {
		return board.Caller{}, noWorkspace(err, c.Workspace)
	}
	id, err := v.WorkspaceOwner(ctx, c.Workspace)
	return board.Person(id), err
}

type exportCommand struct {
	Board     string `placeholder:"ID" xor:"source" help:"The board to export."`
	Workspace string `placeholder:"ID" xor:"source" help:"The workspace to export, without its confidential and trashed boards."`
	Output    string `short:"o" default:"-" type:"path" placeholder:"FILE" help:"File to write, or - for standard output (default)."`
}

func (exportCommand) Help() string {
	return "Example:\n  cardwall export --board brd_01jb2m3n4p5q6r7s8t9v0w1x2y --output launch.json"
}

func (c *exportCommand) Run(ctx context.Context, g *globals) (err error) {
	if c.Board == "" && c.Workspace == "" {
		return errors.New("export needs --board or --workspace")
	}
	out := g.stdout
	if c.Output != "-" {
		f := &outputFile{path: c.Output}
		defer func() { err = f.end(err) }()
		out = f
	}
	return g.withStore(ctx, func(db *store.DB) error {
		return db.Stream(ctx, board.System(), func(v *store.View) error {
			if c.Board != "" {
				return transfer.Export(ctx, v, c.Board, out)
			}
			return transfer.ExportWorkspace(ctx, v, c.Workspace, out)
		})
	})
}
