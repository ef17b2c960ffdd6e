// Command cardwall is the whole product in one binary: the server, and the
// commands by which its operator looks after it.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
	_ "time/tzdata" // time zones do not depend on the machine

	"github.com/alecthomas/kong"

	"cardwall/internal/board"
	"cardwall/internal/seal"
	"cardwall/internal/store"
	"cardwall/internal/trace"
)

// globals are the settings that every command takes.
type globals struct {
	Data       string `default:"./data" type:"path" placeholder:"FOLDER" help:"Folder that holds the data; ./data when absent."`
	Database   string `default:"sqlite" placeholder:"ADDRESS" help:"Where the data is: sqlite, a file in the data folder (so when absent), or postgres://…"`
	BaseURL    string `default:"http://127.0.0.1:8080" placeholder:"URL" help:"Address at which people reach the server; http://127.0.0.1:8080 when absent."`
	SecretKey  string `placeholder:"KEY" help:"Key that seals secrets in the database; several with commas between, of which the first seals. Set it in the environment, for ps shows flags to everyone. When absent it is in the file secret.key of the data folder."`
	Litestream bool   `help:"SQLite: Litestream replicates the file. Checkpoints are left to it; when it does not run, the log of the database grows."`
	Plan       string `default:"business" enum:"free,team,business" help:"Plan of every new organization: free, team or business."`
	LogLevel   string `default:"info" enum:"debug,info,warn,error" help:"What is logged: debug, info, warn or error."`

	MaxOpenCards    int `default:"5000" placeholder:"N" group:"limits" help:"Open cards per board."`
	MaxCards        int `default:"200000" placeholder:"N" group:"limits" help:"All cards per board."`
	MaxLists        int `default:"500" placeholder:"N" group:"limits" help:"Open lists per board."`
	MaxLabels       int `default:"1000" placeholder:"N" group:"limits" help:"Labels per board."`
	MaxChecklists   int `default:"100" placeholder:"N" group:"limits" help:"Checklists per card."`
	MaxItems        int `default:"200" placeholder:"N" group:"limits" help:"Items per checklist."`
	MaxAssignees    int `default:"50" placeholder:"N" group:"limits" help:"Assignees per card."`
	MaxBoardMembers int `default:"500" placeholder:"N" group:"limits" help:"Members per board."`
	MaxRules        int `default:"50" placeholder:"N" group:"limits" help:"Automation rules per board."`
	MaxRuleActions  int `default:"10" placeholder:"N" group:"limits" help:"Actions per automation rule."`

	replica    string         // an address; of serve alone
	operators  []string       // in their normal form; of serve alone
	metrics    *store.Metrics // of serve alone
	keys       *seal.Keyring  // once the store is open
	log        *slog.Logger
	clock      func() time.Time     // the server's, once somebody asked
	onProgress func(message string) // told what a migration does; nil for the log alone
	env        func(name string) string
	stdin      io.Reader
	stdout     io.Writer
	stderr     io.Writer
}

type commands struct {
	globals

	Serve     serveCommand     `cmd:"" help:"Run the server."`
	Demo      demoCommand      `cmd:"" help:"Fill a workspace to look at; prints the sign-in and a token."`
	User      userCommand      `cmd:"" help:"Look after people's accounts."`
	Token     tokenCommand     `cmd:"" help:"Look after API tokens."`
	Workspace workspaceCommand `cmd:"" help:"Look after workspaces."`
	Org       orgCommand       `cmd:"" help:"Look after organizations and their plans."`
	Import    importCommand    `cmd:"" help:"Import a board."`
	Export    exportCommand    `cmd:"" help:"Export a board or a workspace."`
	Webhook   webhookCommand   `cmd:"" help:"Look at deliveries of webhooks."`
	Backup    backupCommand    `cmd:"" help:"Write all data to one file, also while servers run."`
	Restore   restoreCommand   `cmd:"" help:"Put a backup into an empty installation."`
	Migrate   migrateCommand   `cmd:"" help:"Bring the database's schema up to date, or move to PostgreSQL."`
	RotateKey rotateKeyCommand `cmd:"" help:"Seal all secrets under a new key."`
	Doctor    doctorCommand    `cmd:"" help:"Check the data, and say how to mend it."`
	Health    healthCommand    `cmd:"" help:"Ask a server whether it can work."`
	OpenAPI   openapiCommand   `cmd:"" name:"openapi" help:"Print the OpenAPI document."`
	Version   versionCommand   `cmd:"" help:"Print the version."`
}

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is the program; it returns the exit status: 0, or 1 after one clear line.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	return runUntil(ctx, os.Getenv, args, stdin, stdout, stderr)
}

// runUntil is run, of which servers end with ctx. What is read from the environment
// beside the flags is asked of env.
func runUntil(ctx context.Context, env func(name string) string, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	var c commands
	exit := -1
	parser, err := kong.New(&c,
		kong.Name("cardwall"),
		kong.Description("Boards, lists and cards: a server for people, programs and assistants.\n\nEvery flag is also an environment variable: --base-url is CARDWALL_BASE_URL."),
		kong.DefaultEnvars("CARDWALL"),
		kong.ExplicitGroups([]kong.Group{{Key: "limits", Title: "Limits of a board:"}}),
		kong.UsageOnError(),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.Writers(stdout, stderr),
		kong.Exit(func(status int) { exit = status }),
		kong.BindTo(ctx, (*context.Context)(nil)),
	)
	if err != nil {
		panic(err) // a mistake in the tags above
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	command, err := parser.Parse(args)
	if exit >= 0 {
		return exit // help was shown
	}
	if err == nil {
		c.env, c.stdin, c.stdout, c.stderr = env, stdin, stdout, stderr
		c.log, c.clock = newLog(stderr, c.LogLevel), store.SteadyClock(wallClock())
		err = command.Run(ctx, &c.globals)
	}
	if err != nil {
		_, _ = fmt.Fprintln(stderr, "cardwall: "+plainly(err))
		return 1
	}
	return 0
}

// plainly is an error for a person: a fault's own sentence, without its code.
func plainly(err error) string {
	var f *board.Fault
	if errors.As(err, &f) && f.Code != board.CodeUnavailable {
		return f.Message
	}
	return err.Error()
}

// newLog writes text to a terminal and JSON to everything else.
func newLog(w io.Writer, level string) *slog.Logger {
	var l slog.Level
	_ = l.UnmarshalText([]byte(level)) // one of the enum
	opts := &slog.HandlerOptions{Level: l, ReplaceAttr: readable}
	if f, ok := w.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			return slog.New(trace.Logs(slog.NewTextHandler(w, opts)))
		}
	}
	return slog.New(trace.Logs(slog.NewJSONHandler(w, opts)))
}

// readable writes durations as people do: 2s, and not 2000000000.
func readable(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		return slog.String(a.Key, a.Value.Duration().String())
	}
	return a
}

// open opens the store, and makes the data folder when it is not there.
func (g *globals) open(ctx context.Context) (*store.DB, error) {
	if err := os.MkdirAll(g.Data, 0o700); err != nil {
		return nil, fmt.Errorf("make the data folder: %w", err)
	}
	database, err := g.address()
	if err != nil {
		return nil, err
	}
	if err := g.loadKeys(); err != nil {
		return nil, err
	}
	return store.Open(ctx, store.Options{
		Database: database, Replica: g.replica, BaseURL: g.BaseURL, Limits: g.limits(), Plan: board.Plan(g.Plan), Log: g.log, Keys: g.keys, Metrics: g.metrics, Migrate: true, Operators: g.operators, Litestream: g.Litestream,
		Clock: g.now,
		Progress: func(message string) {
			g.log.Info(message)
			if g.onProgress != nil {
				g.onProgress(message)
			}
		},
	})
}

// now is the time of this process. It never goes back by less than a day.
func (g *globals) now() time.Time { return g.clock() }

// address is where the data is: the path of a SQLite file, or postgres://…
func (g *globals) address() (string, error) {
	switch {
	case g.Database == "sqlite":
		return filepath.Join(g.Data, "cardwall.db"), nil
	case !store.IsPostgres(g.Database):
		return "", errors.New("--database must be sqlite or postgres://…")
	}
	return g.Database, nil
}

func (g *globals) limits() board.Limits {
	l := board.DefaultLimits()
	l.OpenCards, l.AllCards, l.OpenLists, l.Labels = g.MaxOpenCards, g.MaxCards, g.MaxLists, g.MaxLabels
	l.Checklists, l.Items, l.Assignees, l.BoardMembers = g.MaxChecklists, g.MaxItems, g.MaxAssignees, g.MaxBoardMembers
	l.Rules, l.RuleActions = g.MaxRules, g.MaxRuleActions
	return l
}

// with opens the store for one command.
func (g *globals) with(ctx context.Context, fn func(*store.DB) error) error {
	db, err := g.open(ctx)
	if err != nil {
		return err
	}
	return errors.Join(fn(db), db.Close())
}

// write runs one transaction as a caller.
func (g *globals) write(ctx context.Context, caller board.Caller, fn func(*store.Tx) error) error {
	return g.with(ctx, func(db *store.DB) error { return db.Write(ctx, caller, fn) })
}

// owner finds an account by its address or id.
func owner(ctx context.Context, v *store.View, who string) (board.User, error) {
	email, err := board.NormalEmail(who)
	if err != nil {
		return board.User{}, err
	}
	u, err := v.UserByEmail(ctx, email)
	if board.IsCode(err, board.CodeNotFound) {
		err = fmt.Errorf("there is no account with the address %s", email)
	}
	return u, err
}

func (g *globals) print(format string, args ...any) {
	_, _ = fmt.Fprintf(g.stdout, format+"\n", args...)
}
