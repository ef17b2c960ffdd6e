// Command board imports, watches, follows and edits boards.
//
//	board import NAME FILE.csv    create a board from a CSV file
//	board watch BOARD PORT COUNT  receive COUNT events of a board
//	board catch-up BOARD FILE     print the changes since the last run
//	board edit BOARD LABEL        add a label to all open cards
//
// CARDWALL_URL is the address of the server, and CARDWALL_TOKEN an API token with the scopes read
// and write, and admin for watch.
package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"cardwall/clients/go"
)

// batch is the most cards that one request creates or changes.
const batch = 100

var events = []string{
	"card.created", "card.updated", "card.moved", "card.completed", "card.reopened", "card.archived",
	"card.restored", "card.assignees_changed", "card.labels_changed", "card.due_date_changed", "comment.added",
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "board:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	client, err := cardwall.New(os.Getenv("CARDWALL_URL"), os.Getenv("CARDWALL_TOKEN"))
	if err != nil {
		return err
	}
	switch {
	case len(args) == 3 && args[0] == "import":
		return importCSV(ctx, client, args[1], args[2])
	case len(args) == 4 && args[0] == "watch":
		count, err := strconv.Atoi(args[3])
		if err != nil {
			return err
		}
		return watch(ctx, client, args[1], args[2], count)
	case len(args) == 3 && args[0] == "catch-up":
		return catchUp(ctx, client, args[1], args[2])
	case len(args) == 3 && args[0] == "edit":
		return edit(ctx, client, args[1], args[2])
	}
	return errors.New("usage: board import NAME FILE.csv | watch BOARD PORT COUNT | catch-up BOARD FILE | edit BOARD LABEL")
}

// importCSV creates a board with the lists and cards of a CSV file, and prints its id.
func importCSV(ctx context.Context, client *cardwall.Client, name, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		return errors.New("the file has no header")
	}
	column := map[string]int{}
	for i, title := range rows[0] {
		column[strings.TrimPrefix(title, "\ufeff")] = i
	}
	for _, title := range []string{"list", "title", "description", "due"} {
		if _, found := column[title]; !found {
			return fmt.Errorf("the column %s is missing", title)
		}
	}
	workspaces, err := client.ListWorkspaces(ctx, cardwall.ListWorkspacesParams{Limit: 1})
	if err != nil {
		return err
	}
	if len(workspaces.Data) == 0 {
		return errors.New("there is no workspace")
	}
	created, err := client.CreateBoard(ctx, cardwall.CreateBoardParams{WorkspaceID: workspaces.Data[0].ID, Name: name})
	if err != nil {
		return err
	}
	board := created.Data.ID
	lists := map[string]string{}
	var cards []cardwall.CreateCardInput
	for _, row := range rows[1:] {
		list := row[column["list"]]
		if lists[list] == "" { // lists are created in order of first appearance
			result, err := client.CreateList(ctx, board, cardwall.CreateListParams{Name: list})
			if err != nil {
				return err
			}
			lists[list] = result.Data.ID
		}
		card := cardwall.CreateCardInput{ListID: lists[list], Title: row[column["title"]]}
		if text := row[column["description"]]; text != "" {
			card.Description = &text
		}
		if due := row[column["due"]]; due != "" {
			card.Due = &cardwall.DueInput{DueDate: &due}
		}
		cards = append(cards, card)
	}
	for part := range slices.Chunk(cards, batch) {
		if _, err := client.CreateCards(ctx, board, cardwall.CreateCardsParams{Cards: part}); err != nil {
			return err
		}
	}
	fmt.Println(board)
	return nil
}

// watch prints the events of a board until there were count different ones.
func watch(ctx context.Context, client *cardwall.Client, board, port string, count int) (err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		return err
	}
	var mu sync.Mutex
	seen := map[string]bool{}
	known, done := make(chan string, 1), make(chan struct{})
	server := &http.Server{ReadTimeout: 10 * time.Second}
	server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		secret := <-known // a delivery can be faster than the response with the secret
		known <- secret
		event, err := cardwall.VerifyWebhook([]string{secret}, r.Header, body)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		w.WriteHeader(http.StatusNoContent)
		if seen[event.ID] || len(seen) >= count {
			return
		}
		seen[event.ID] = true
		fmt.Println(event.Type, event.ID)
		if len(seen) == count {
			close(done)
		}
	})
	go server.Serve(listener) //nolint:errcheck // it returns when the server is shut down
	webhook, err := client.CreateWebhook(ctx, cardwall.CreateWebhookParams{
		URL: "http://127.0.0.1:" + port + "/", Events: events, BoardID: &board,
	})
	if err != nil {
		return err
	}
	known <- webhook.Data.Secret
	defer func() {
		// Shutdown waits for the last response.
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		_, deleted := client.DeleteWebhook(end, webhook.Data.ID)
		err = errors.Join(err, deleted, server.Shutdown(end))
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// catchUp prints the changes of a board since the version in a file, and writes the new version to
// it. If the program stops in between, the next run prints some changes again, but skips none.
func catchUp(ctx context.Context, client *cardwall.Client, board, path string) error {
	var version int64
	text, err := os.ReadFile(path)
	if err == nil {
		version, err = strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	params := cardwall.ListBoardChangesParams{Since: version, Limit: 200}
	for {
		page, err := client.ListBoardChanges(ctx, board, params)
		if err != nil {
			return err
		}
		for _, change := range page.Data {
			if _, err := fmt.Println(change.BoardVersion, change.Type); err != nil {
				return err
			}
		}
		if page.BoardVersion != nil {
			version = *page.BoardVersion
		}
		if page.NextCursor == nil {
			break
		}
		params.Cursor = *page.NextCursor
	}
	if err := os.WriteFile(path+".new", []byte(strconv.FormatInt(version, 10)+"\n"), 0o644); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// edit adds a label to all open cards of a board, and prints how many did not have it.
func edit(ctx context.Context, client *cardwall.Client, board, name string) error {
	id := ""
	for label, err := range client.IterateLabels(ctx, board, cardwall.ListLabelsParams{}) {
		if err != nil {
			return err
		}
		if label.Name == name {
			id = label.ID
			break
		}
	}
	if id == "" {
		label, err := client.CreateLabel(ctx, board, cardwall.CreateLabelParams{Color: "blue", Name: &name})
		if err != nil {
			return err
		}
		id = label.Data.ID
	}
	var ids []string
	params := cardwall.ListCardsParams{LabelNot: id, View: "compact", Limit: 200}
	for card, err := range client.IterateCards(ctx, board, params) {
		if err != nil {
			return err
		}
		ids = append(ids, card.ID)
	}
	for part := range slices.Chunk(ids, batch) {
		changes := cardwall.UpdateCardsParams{CardIDs: part, AddLabels: []string{id}}
		if _, err := client.UpdateCards(ctx, board, changes); err != nil {
			return err
		}
	}
	fmt.Println(len(ids))
	return nil
}
