// Command cardwall runs the server, the commands that operators need, and commands for the API of
// any server.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"
	_ "time/tzdata" // the machine may not have a time zone database

	"github.com/alecthomas/kong"

	"cardwall/internal/board"
	"cardwall/internal/seal"
	"cardwall/internal/sqldb"
	"cardwall/internal/store"
	"cardwall/internal/trace"
)

// globals holds the flags that all commands have in common, and the state of the
// running command.
type globals struct {
	Data       string `default:"./data" type:"path" placeholder:"FOLDER" help:"Data folder (default ./data)."`
	Database   string `default:"sqlite" placeholder:"ADDRESS" help:"sqlite (a file in the data folder) or postgres://… (default ${default})."`
	BaseURL    string `default:"http://127.0.0.1:8080" placeholder:"URL" help:"Address at which people reach the server (default ${default})."`
	SecretKey  string `placeholder:"KEY" help:"${help_secret_key}"`
	Files      string `placeholder:"ADDRESS" help:"${help_files}"`
	Litestream bool   `help:"${help_litestream}"`
	Plan       string `default:"business" enum:"free,team,business" help:"Plan of new organizations: free, team or business (default ${default})."`

	StorageFree     board.Bytes `default:"250MB" placeholder:"SIZE" group:"storage" help:"Storage of an organization on the Free plan (default ${default})."`
	StorageTeam     board.Bytes `default:"25GB" placeholder:"SIZE" group:"storage" help:"Storage of an organization on the Team plan (default ${default})."`
	StorageBusiness board.Bytes `default:"250GB" placeholder:"SIZE" group:"storage" help:"Storage of an organization on the Business plan (default ${default})."`

	LogLevel string `default:"info" enum:"debug,info,warn,error" help:"Lowest level to log: debug, info, warn or error (default ${default})."`

	MaxOpenCards    int `default:"5000" placeholder:"N" group:"limits" help:"Cards per board, not counting archived ones (default ${default})."`
	MaxCards        int `default:"200000" placeholder:"N" group:"limits" help:"Open and archived cards per board (default ${default})."`
	MaxLists        int `default:"500" placeholder:"N" group:"limits" help:"Open lists per board (default ${default})."`
	MaxLabels       int `default:"1000" placeholder:"N" group:"limits" help:"Labels per board (default ${default})."`
	MaxChecklists   int `default:"100" placeholder:"N" group:"limits" help:"Checklists per card (default ${default})."`
	MaxItems        int `default:"200" placeholder:"N" group:"limits" help:"Items per checklist (default ${default})."`
	MaxAssignees    int `default:"50" placeholder:"N" group:"limits" help:"Assignees per card (default ${default})."`
	MaxBoardMembers int `default:"500" placeholder:"N" group:"limits" help:"Members per board (default ${default})."`
	MaxRules        int `default:"50" placeholder:"N" group:"limits" help:"Automation rules per board (default ${default})."`
	MaxRuleActions  int `default:"10" placeholder:"N" group:"limits" help:"Actions per automation rule (default ${default})."`

	baseURLGiven bool           // by a flag or the environment
	replica      string         // address; only for serve
	cacheSize    board.Bytes    // of the response cache; only for serve
	signUpClosed bool           // only for serve
	operators    []string       // normalized email addresses; only for serve
	metrics      *store.Metrics // only for serve
	keys         *seal.Keyring  // set by loadKeys
	log          *slog.Logger
	clock        func() time.Time
	onProgress   func(message string) // called for each step that delays opening the store, such as a migration; may be nil
	stdin        io.Reader
	stdout       io.Writer
	stderr       io.Writer
}

// baseURLFlag is the name of the flag of globals.BaseURL.
const baseURLFlag = "base-url"

type commands struct {
	globals

	Serve      serveCommand      `cmd:"" help:"Run the server."`
	Demo       demoCommand       `cmd:"" help:"Create a demo workspace, and print how to sign in and an API token."`
	User       userCommand       `cmd:"" help:"Manage accounts."`
	Token      tokenCommand      `cmd:"" help:"Manage API tokens."`
	Workspace  workspaceCommand  `cmd:"" help:"Manage workspaces."`
	Org        orgCommand        `cmd:"" help:"Manage organizations and their plans."`
	Import     importCommand     `cmd:"" help:"Import a board."`
	Export     exportCommand     `cmd:"" help:"Export a board or a workspace."`
	Webhook    webhookCommand    `cmd:"" help:"Receive and verify webhook deliveries."`
	Backup     backupCommand     `cmd:"" help:"Back up all data to one file, and copy attached files."`
	Restore    restoreCommand    `cmd:"" help:"Restore a backup into an empty database."`
	Migrate    migrateCommand    `cmd:"" help:"Migrate the database schema, or move to PostgreSQL."`
	RotateKey  rotateKeyCommand  `cmd:"" help:"Re-encrypt all secrets with a new key."`
	Doctor     doctorCommand     `cmd:"" help:"Check the data for problems, and repair them with --repair."`
	Health     healthCommand     `cmd:"" help:"Check whether a server is ready."`
	Login      loginCommand      `cmd:"" remote:"" help:"Sign in to a server, for the commands below."`
	Logout     logoutCommand     `cmd:"" remote:"" help:"Sign out of a server."`
	Boards     boardsCommand     `cmd:"" remote:"" help:"List and create boards on a server."`
	Cards      cardsCommand      `cmd:"" remote:"" help:"List, create and move cards on a server."`
	API        apiCommand        `cmd:"" remote:"" name:"api" help:"Send a request to the API of a server."`
	Completion completionCommand `cmd:"" help:"Print the code with which a shell completes commands."`
	Complete   completeCommand   `cmd:"" hidden:"" help:"Print the candidates for the last word of a command line."`
	OpenAPI    openapiCommand    `cmd:"" name:"openapi" help:"Print the OpenAPI document."`
	Version    versionCommand    `cmd:"" help:"Print the version."`
}

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run parses and runs a command, and returns the exit status. If the command
// fails, run prints the error and returns 1.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal terminates the program immediately
	return runUntil(ctx, args, stdin, stdout, stderr)
}

// runUntil is like run, but it stops the command when ctx ends and not on a signal.
func runUntil(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	var c commands
	exit := -1
	parser, err := kong.New(&c,
		kong.Name("cardwall"),
		kong.Description("Boards, lists and cards for people, programs and AI assistants.\n\n"+
			"Most flags can also be set with environment variables: --base-url is CARDWALL_BASE_URL."),
		flagHelp(),
		kong.DefaultEnvars("CARDWALL"),
		kong.ExplicitGroups([]kong.Group{
			{Key: "limits", Title: "Limits of each board:"}, {Key: "storage", Title: "Limits of each organization:"},
			{Key: "retention", Title: "How long records are kept (forever, 90d, 3y):"},
		}),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.Help(printHelp),
		kong.Writers(stdout, stderr),
		kong.Exit(func(status int) { exit = status }),
		kong.BindTo(ctx, (*context.Context)(nil)),
	)
	if err != nil {
		panic(err) // a struct tag of a command is invalid
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	command, err := parser.Parse(args)
	if exit >= 0 {
		return exit // help was shown
	}
	if err == nil {
		c.stdin, c.stdout, c.stderr = stdin, stdout, stderr
		c.baseURLGiven = os.Getenv("CARDWALL_BASE_URL") != "" || slices.ContainsFunc(command.Path, func(p *kong.Path) bool {
			return p.Flag != nil && p.Flag.Name == baseURLFlag
		})
		c.log, c.clock = newLog(stderr, c.LogLevel), store.SteadyClock(wallClock())
		if err = c.globals.checkSettings(); err == nil {
			err = command.Run(ctx, &c.globals)
		}
	}
	if err != nil {
		_, _ = fmt.Fprintln(stderr, "cardwall: "+cmp.Or(remoteError(err), message(err)))
		return 1
	}
	return 0
}

// message returns the text to print for err: the message of the fault that err
// contains, or the complete error if it contains none. An unavailable fault does not
// describe its cause. For such a fault, message returns what is wrong with the database
// file, or else the complete error.
func message(err error) string {
	var (
		f    *board.Fault
		file *sqldb.FileError
	)
	switch {
	case !errors.As(err, &f):
		return err.Error()
	case f.Code != board.CodeUnavailable:
		return f.Message
	case errors.As(err, &file):
		return file.Error()
	}
	return err.Error()
}

// newLog returns a logger that writes text to a terminal, and JSON to any other
// output.
func newLog(w io.Writer, level string) *slog.Logger {
	var l slog.Level
	_ = l.UnmarshalText([]byte(level)) // kong validates the level
	opts := &slog.HandlerOptions{Level: l, ReplaceAttr: formatDurations}
	if isTerminal(w) {
		return slog.New(trace.Logs(slog.NewTextHandler(w, opts)))
	}
	return slog.New(trace.Logs(slog.NewJSONHandler(w, opts)))
}

// formatDurations logs a duration as 2s and not as 2000000000.
func formatDurations(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		return slog.String(a.Key, a.Value.Duration().String())
	}
	return a
}

// open opens the store and migrates it. It creates the data folder if the folder does
// not exist.
func (g *globals) open(ctx context.Context) (*store.DB, error) {
	if err := os.MkdirAll(g.Data, 0o700); err != nil {
		return nil, fmt.Errorf("create the data folder: %w", err)
	}
	database, err := g.address()
	if err != nil {
		return nil, err
	}
	if err := g.loadKeys(); err != nil {
		return nil, err
	}
	return store.Open(ctx, store.Options{
		Database: database, Replica: g.replica, Litestream: g.Litestream, Migrate: true,
		BaseURL: g.BaseURL, Limits: g.limits(), Plan: board.Plan(g.Plan), Storage: g.storage(), Operators: g.operators,
		SignUpClosed: g.signUpClosed,
		Log:          g.log, Keys: g.keys, Metrics: g.metrics, Clock: g.now, CacheSize: g.cacheSize,
		Progress: func(message string) {
			g.log.Info(message)
			if g.onProgress != nil {
				g.onProgress(message)
			}
		},
	})
}

// now returns the current time. If the machine's clock is set back by less than a
// day, now continues at half speed until the clock has caught up.
func (g *globals) now() time.Time { return g.clock() }

// address returns the address of the database: the path of the SQLite file, or
// postgres://…
func (g *globals) address() (string, error) {
	switch {
	case g.Database == "sqlite":
		return filepath.Join(g.Data, "cardwall.db"), nil
	case !sqldb.IsPostgres(g.Database):
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

// storage returns the storage quotas of the plans.
func (g *globals) storage() map[board.Plan]board.Bytes {
	return map[board.Plan]board.Bytes{
		board.PlanFree: g.StorageFree, board.PlanTeam: g.StorageTeam, board.PlanBusiness: g.StorageBusiness,
	}
}

// withStore opens the store, calls fn and closes the store.
func (g *globals) withStore(ctx context.Context, fn func(*store.DB) error) error {
	db, err := g.open(ctx)
	if err != nil {
		return err
	}
	return errors.Join(fn(db), db.Close())
}

// write opens the store and runs fn in a write transaction on behalf of caller.
func (g *globals) write(ctx context.Context, caller board.Caller, fn func(*store.Tx) error) error {
	return g.withStore(ctx, func(db *store.DB) error { return db.Write(ctx, caller, fn) })
}

// userByEmail returns the account with the given email address.
func userByEmail(ctx context.Context, v *store.View, address string) (board.User, error) {
	email, err := board.NormalEmail(address)
	if err != nil {
		return board.User{}, err
	}
	u, err := v.UserByEmail(ctx, email)
	if board.IsCode(err, board.CodeNotFound) {
		err = fmt.Errorf("there is no account with the email address %s", email)
	}
	return u, err
}

func (g *globals) print(format string, args ...any) {
	_, _ = fmt.Fprintf(g.stdout, format+"\n", args...)
}
