package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/go-json-experiment/json"

	"cardwall/clients/go"
	"cardwall/internal/login"
)

// remoteFlags are the flags of the commands that use the API of a server.
type remoteFlags struct {
	Token string `placeholder:"TOKEN" help:"API token, instead of a login. Use the environment variable, because ps shows flags to every user."`
}

// client returns a client of a server. With a token, it is the server at --base-url. Otherwise it is
// that server if the flag is set, or else the server of the last login.
func (f remoteFlags) client(ctx context.Context, g *globals) (*cardwall.Client, error) {
	base, token := g.BaseURL, f.Token
	if token == "" {
		logins, err := login.Open()
		if err != nil {
			return nil, err
		}
		if base, err = g.signedIn(logins); err != nil {
			return nil, err
		}
		token, err = logins.Token(ctx, base)
		if errors.Is(err, login.ErrSignedOut) {
			return nil, fmt.Errorf("%w: run cardwall login --base-url %s, or set CARDWALL_TOKEN to an API token", err, base)
		}
		if err != nil {
			return nil, err
		}
	}
	client, err := cardwall.New(base, token)
	if err != nil {
		return nil, err
	}
	client.UserAgent, client.Timeout = "cardwall/"+apiVersion(), time.Minute
	return client, nil
}

// signedIn returns --base-url or, if it is not set, the base URL of the last login, if there is one.
func (g *globals) signedIn(logins *login.File) (string, error) {
	if g.baseURLGiven {
		return g.BaseURL, nil
	}
	current, err := logins.Current()
	return cmp.Or(current, g.BaseURL), err
}

// remoteError returns the text to print for an error of the API, or "" for another error.
func remoteError(err error) string {
	var e *cardwall.APIError
	switch {
	case !errors.As(err, &e):
		return ""
	case e.Code != "":
		return fmt.Sprintf("status %d, %s: %s", e.Status, e.Code, e.Message)
	case e.Status != 0:
		return fmt.Sprintf("%s (status %d); check --base-url", e.Message, e.Status)
	case errors.Is(e, cardwall.ErrTransport):
		return "the server does not respond: " + e.Message
	}
	return e.Message
}

// outputFlags are the flags of the commands that print records.
type outputFlags struct {
	JSON bool `name:"json" env:"-" help:"Print each record as JSON on a line."`
}

// listFlags are the flags of the commands that print all records of a list.
type listFlags struct {
	outputFlags
	Limit int `env:"-" default:"100" placeholder:"N" help:"Print at most this many (default ${default}); 0 prints all."`
}

// printList prints records. On a terminal, it prints a table with a header, and otherwise the cells
// of each record, separated by tabs.
func printList[T any](g *globals, f listFlags, records iter.Seq2[T, error], header []string, cells func(T) []string) error {
	w := tabwriter.NewWriter(g.stdout, 0, 0, 2, ' ', 0)
	terminal := isTerminal(g.stdout)
	if terminal && !f.JSON {
		_, _ = fmt.Fprintln(w, strings.Join(header, "\t")) // Flush returns its error
	}
	n := 0
	for record, err := range records {
		if err != nil {
			return errors.Join(w.Flush(), err)
		}
		if n++; f.Limit > 0 && n > f.Limit {
			break
		}
		row := cells(record)
		for i := range row {
			row[i] = cellText(row[i])
		}
		line := strings.Join(row, "\t")
		switch {
		case f.JSON:
			if err := printLine(g, record); err != nil {
				return err
			}
		case terminal:
			_, _ = fmt.Fprintln(w, line)
		default:
			if _, err := fmt.Fprintln(g.stdout, line); err != nil {
				return err
			}
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if f.Limit > 0 && n > f.Limit {
		_, _ = fmt.Fprintf(g.stderr, "There are more than %d; --limit 0 prints all.\n", f.Limit)
	}
	return nil
}

// cellText replaces the characters with which a title could change the terminal or the order of the text.
func cellText(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return ' '
		}
		return r
	}, text)
}

// printRecord prints the id of a record that a command has written, or the record as JSON.
func printRecord[T any](g *globals, f outputFlags, id string, record T) error {
	if !f.JSON {
		g.print("%s", id)
		return nil
	}
	return printLine(g, record)
}

// printLine prints a record as JSON on a line.
func printLine(g *globals, record any) error {
	text, err := json.Marshal(record)
	if err == nil {
		_, err = fmt.Fprintf(g.stdout, "%s\n", text)
	}
	return err
}

// The ids of records, alone or in the URL of a page.
var (
	workspaceID = regexp.MustCompile(`^wsp_[0-9a-z]{26}$`)
	boardID     = regexp.MustCompile(`^(?:https?://.*/)?(brd_[0-9a-z]{26})$`)
	listID      = regexp.MustCompile(`^lst_[0-9a-z]{26}$`)
	cardID      = regexp.MustCompile(`^(?:https?://.*/)?(crd_[0-9a-z]{26})$`)
)

// findWorkspace returns the id of a workspace that a person names by its id or name, or the only one
// if the text is empty.
func findWorkspace(ctx context.Context, client *cardwall.Client, text string) (string, error) {
	if workspaceID.MatchString(text) {
		return text, nil
	}
	var all, found []string
	for w, err := range client.IterateWorkspaces(ctx, cardwall.ListWorkspacesParams{}) {
		if err != nil {
			return "", err
		}
		all = append(all, w.ID)
		if strings.EqualFold(w.Name, text) {
			found = append(found, w.ID)
		}
	}
	if text == "" && len(all) != 1 {
		return "", fmt.Errorf("you are in %d workspaces; choose one with --workspace", len(all))
	}
	if text == "" {
		return all[0], nil
	}
	return theOnly(found, "workspace", text)
}

// findBoard returns the id of a board that a person names by its id, URL or name.
func findBoard(ctx context.Context, client *cardwall.Client, text string) (string, error) {
	if match := boardID.FindStringSubmatch(text); match != nil {
		return match[1], nil
	}
	var found []string
	for board, err := range client.IterateBoards(ctx, cardwall.ListBoardsParams{Limit: 200, Fields: "id,name"}) {
		if err != nil {
			return "", err
		}
		if strings.EqualFold(board.Name, text) {
			found = append(found, board.ID)
		}
	}
	return theOnly(found, "board", text)
}

// findList returns the id of a list that a person names by its id or, on a board, its name.
func findList(ctx context.Context, client *cardwall.Client, boardID, text string) (string, error) {
	if listID.MatchString(text) {
		return text, nil
	}
	if boardID == "" {
		return "", fmt.Errorf("%s is not the id of a list; to name a list, add --board", strconv.Quote(text))
	}
	board, err := client.GetBoard(ctx, boardID, cardwall.GetBoardParams{})
	if err != nil {
		return "", err
	}
	return listNamed(board.Data.Lists, text)
}

// listNamed returns the id of the list with a name.
func listNamed(lists []cardwall.List, name string) (string, error) {
	var found []string
	for _, list := range lists {
		if strings.EqualFold(list.Name, name) {
			found = append(found, list.ID)
		}
	}
	return theOnly(found, "list", name)
}

// theOnly returns the id of the only record with a name.
func theOnly(ids []string, kind, name string) (string, error) {
	switch len(ids) {
	case 0:
		return "", fmt.Errorf("there is no %s %s that you can see", kind, strconv.Quote(name))
	case 1:
		return ids[0], nil
	}
	slices.Sort(ids)
	return "", fmt.Errorf("several %ss are named %s; use an id: %s", kind, strconv.Quote(name), strings.Join(ids, ", "))
}
