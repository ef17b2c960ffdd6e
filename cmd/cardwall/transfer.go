package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"sync"

	"cardwall/internal/archive"
	"cardwall/internal/board"
	"cardwall/internal/fetch"
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

type importTrelloCommand struct {
	importFlags
	Download bool `help:"Download the attached files, if they are public."`
	guardFlags
}

func (importTrelloCommand) Help() string {
	return "Prints what was imported and what was skipped. An import does not send events.\n\n" +
		"An attached file becomes a link to where Trello stores it. With --download, the file itself is attached if anyone " +
		"can download it. Trello requires sign-in for the files of most boards; these stay links. Files are only downloaded " +
		"from public https addresses and from servers that --webhook-allow lists.\n\n" +
		"Examples:\n" +
		"  cardwall import trello board.json --workspace wsp_01jb2m3n4p5q6r7s8t9v0w1x2y\n" +
		"  cardwall import trello board.json --download --workspace wsp_01jb2m3n4p5q6r7s8t9v0w1x2y"
}

func (c *importTrelloCommand) Run(ctx context.Context, g *globals) error {
	if !c.Download {
		return c.run(ctx, g, "trello", nil)
	}
	var err error
	o := fetch.Options{Log: g.log}
	if o.Guard, err = c.guard(); err != nil {
		return err
	}
	if o.Roots, err = c.roots(); err != nil {
		return err
	}
	return c.run(ctx, g, "trello", &o)
}

type importCardwallCommand struct{ importFlags }

func (importCardwallCommand) Help() string {
	return "Imports a JSON document, or a zip archive that cardwall export --with-files has written. Attached files are " +
		"imported only from an archive. Prints what was imported and what was skipped. An import does not send events.\n\n" +
		"Examples:\n" +
		"  cardwall import cardwall launch.json --workspace wsp_01jb2m3n4p5q6r7s8t9v0w1x2y\n" +
		"  cardwall import cardwall launch.zip --workspace wsp_01jb2m3n4p5q6r7s8t9v0w1x2y"
}

func (c *importCardwallCommand) Run(ctx context.Context, g *globals) error {
	return c.run(ctx, g, "cardwall", nil)
}

// run imports the file, and downloads its attached files unless downloads is nil. Like a
// server, it imports a large file in short transactions, so that a server on the same database
// can keep serving requests.
func (c *importFlags) run(ctx context.Context, g *globals, format string, downloads *fetch.Options) (err error) {
	file, closeFile, err := c.open(g)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeFile()) }()
	f := transfer.File{
		Format: format, WorkspaceID: c.Workspace,
		Open: func() io.Reader { return io.NewSectionReader(file, 0, math.MaxInt64) },
	}
	var packed *archive.Reader // nil if the file is not an archive
	if format == "cardwall" && transfer.IsZip(f.Open()) {
		info, err := file.Stat()
		if err != nil {
			return err
		}
		if packed, err = archive.Open(file, info.Size()); err != nil {
			return err
		}
		f.Open = packed.Document
	}
	return g.withStore(ctx, func(db *store.DB) (err error) {
		if err := db.Read(ctx, board.System(), func(v *store.View) (err error) {
			f.Caller, err = c.caller(ctx, v)
			return err
		}); err != nil {
			return err
		}
		if packed != nil || downloads != nil {
			files, closeFiles, openErr := g.openFiles(ctx, db)
			if openErr != nil {
				return openErr
			}
			defer func() { err = errors.Join(err, closeFiles()) }()
			if packed != nil {
				f.Contents = archive.Contents{Archive: packed, Files: files, Caller: f.Caller}
			} else {
				downloads.Files, downloads.Caller = files, f.Caller
				fetcher := fetch.New(*downloads)
				defer fetcher.Close()
				f.Downloads = fetcher
			}
		}
		report, err := g.importFile(ctx, db, f)
		if err == nil {
			g.print("%s", strings.TrimSuffix(report.String(), "\n"))
		}
		return err
	})
}

// importFile imports a file, runs the job that the import queues, and prints the progress.
func (g *globals) importFile(ctx context.Context, db *store.DB, f transfer.File) (transfer.Report, error) {
	working, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	holder := store.NewID("srv_")
	jobs := job.New(job.Options{DB: db, Holder: holder, Log: g.log})
	imports := transfer.Importer{DB: db, Jobs: jobs, Holder: holder + ":upload", Log: g.log}
	bar := newProgress(g.stderr)
	defer bar.end()
	f.Progress = bar.show
	f.Queued = func(id string) { running.Go(func() { jobs.RunOne(working, id) }) }
	return imports.ImportFile(ctx, f)
}

// open opens the file. It copies standard input to a temporary file, because an import
// reads its file several times. The caller must call closeFile.
func (c *importFlags) open(g *globals) (file *os.File, closeFile func() error, err error) {
	path := c.File
	remove := func() error { return nil }
	if path == "-" {
		if path, err = g.saveInput(); err != nil {
			return nil, nil, fmt.Errorf("read standard input: %w", err)
		}
		remove = func() error { return os.Remove(path) }
	}
	if file, err = os.Open(path); err != nil {
		return nil, nil, errors.Join(err, remove())
	}
	return file, func() error { return errors.Join(file.Close(), remove()) }, nil
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
	WithFiles bool   `help:"Write a zip archive that contains the attached files, instead of a JSON document."`
	Output    string `short:"o" default:"-" type:"path" placeholder:"FILE" help:"File to write, or - for standard output (default)."`
}

func (exportCommand) Help() string {
	return "Writes a JSON document that describes attached files without their content or, with --with-files, a zip archive of " +
		"this document and the files. An output file is written completely or not at all.\n\n" +
		"Examples:\n" +
		"  cardwall export --board brd_01jb2m3n4p5q6r7s8t9v0w1x2y --output launch.json\n" +
		"  cardwall export --board brd_01jb2m3n4p5q6r7s8t9v0w1x2y --with-files --output launch.zip"
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
		if !c.WithFiles {
			return c.document(ctx, db, out, nil)
		}
		files, closeFiles, err := g.openFiles(ctx, db)
		if err != nil {
			return err
		}
		err = archive.Write(ctx, out, files.Blobs, func(w io.Writer, file func(board.Attachment)) error {
			return c.document(ctx, db, w, file)
		})
		return errors.Join(err, closeFiles())
	})
}

// document writes the document and calls file, unless it is nil, for each attached file.
func (c *exportCommand) document(ctx context.Context, db *store.DB, w io.Writer, file func(board.Attachment)) error {
	e := transfer.Exporter{File: file}
	return db.Stream(ctx, board.System(), func(v *store.View) error {
		if c.Board != "" {
			return e.Board(ctx, v, c.Board, w)
		}
		return e.Workspace(ctx, v, c.Workspace, w)
	})
}
