package main

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"time"

	"github.com/go-json-experiment/json"
)

// The workspaces for the reports are imported from documents with "cardwall import cardwall", because creating 100,000 cards
// would take longer than all measures. The types below are the needed part of the format cardwall-export/1.

const (
	reportBoards  = 50
	reportCards   = 1000 // on each of them
	reportPeople  = 20
	reportLabel   = "Bug" // the label in the query of the saved filter
	instantLayout = "2006-01-02T15:04:05.000Z"
)

// The words that are searched for. They occur only where the generator adds them.
const (
	rareEvery   = 1000 // one card in this many has a rare word
	mediumWord  = "zeppelin"
	mediumEvery = 55 // just few enough for the server to collect all matches
	commonWord  = "customer"
	commonEvery = 3
)

// rareWords returns words of which each occurs in 20 of 100,000 cards.
func rareWords() []string { return []string{"quagga", "quetzal", "quokka", "quoll", "quahog"} }

// labelNames returns the labels of a board, which also has as many lists.
func labelNames() []string {
	return []string{reportLabel, "Idea", "Urgent", "Waiting", "Cost", "Design"}
}

type docBoard struct {
	Format       string     `json:"format"`
	ExportedAt   string     `json:"exportedAt"`
	BoardVersion int        `json:"boardVersion"`
	Board        docHead    `json:"board"`
	Users        []docName  `json:"users"`
	Labels       []docLabel `json:"labels"`
	Lists        []docList  `json:"lists"`
	Cards        []docCard  `json:"cards"`
	Activity     []docEntry `json:"activity"`
	Counts       docCounts  `json:"counts"`
	Complete     bool       `json:"complete"`
}

type docTimes struct {
	CreatedAt string `json:"createdAt"`
	UpdatedAt string `json:"updatedAt"`
}

type docHead struct {
	ID          string          `json:"id"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Visibility  string          `json:"visibility"`
	Features    map[string]bool `json:"features"`
	NextNumber  int             `json:"nextNumber"`
	Cards       int             `json:"cards"`
	CreatedBy   string          `json:"createdBy"`
	docTimes
}

type docName struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

type docLabel struct {
	docName
	Color string `json:"color"`
	docTimes
}

type docList struct {
	docName
	WIPLimit int    `json:"wipLimit"`
	WIPMode  string `json:"wipMode"`
	docTimes
}

type docCard struct {
	ID          string   `json:"id"`
	ListID      string   `json:"listId"`
	Number      int      `json:"number"`
	Title       string   `json:"title"`
	Description string   `json:"description"`
	DoneAt      *string  `json:"doneAt"`
	ArchivedAt  *string  `json:"archivedAt"`
	Labels      []string `json:"labels"`
	Assignees   []string `json:"assignees"`
	DueDate     *string  `json:"dueDate"`
	DueAt       *string  `json:"dueAt"`
	StartDate   *string  `json:"startDate"`
	TimeZone    *string  `json:"timeZone"`
	CreatedBy   string   `json:"createdBy"`
	docTimes
	Checklists []docChecklist `json:"checklists,omitempty"`
}

type docChecklist struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	docTimes
	Items []docItem `json:"items"`
}

type docItem struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	docTimes
}

type docEntry struct {
	ID           string         `json:"id"`
	Type         string         `json:"type"`
	At           string         `json:"at"`
	Actor        docActor       `json:"actor"`
	ListID       string         `json:"listId"`
	CardID       string         `json:"cardId"`
	Changes      map[string]any `json:"changes"`
	BoardVersion int            `json:"boardVersion"`
}

type docActor struct {
	Type string `json:"type"`
	ID   string `json:"id"`
}

type docCounts struct {
	Boards   int `json:"boards,omitzero"`
	Users    int `json:"users"`
	Labels   int `json:"labels"`
	Lists    int `json:"lists"`
	Cards    int `json:"cards"`
	Activity int `json:"activity"`

	Checklists int `json:"checklists,omitzero"`
	Items      int `json:"items,omitzero"`
}

// writeDocumentFile writes the document of a workspace into a new file.
func writeDocumentFile(path, owner string, part int, now time.Time) error {
	return writeFile(path, func(w io.Writer) error { return writeDocument(w, owner, part, reportBoards, now.UTC()) })
}

// writeFile creates a file with the output of write.
func writeFile(path string, write func(io.Writer) error) error {
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("create document: %w", err)
	}
	defer file.Close()
	out := bufio.NewWriterSize(file, 1<<20)
	if err := write(out); err != nil {
		return fmt.Errorf("write document: %w", err)
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write document: %w", err)
	}
	return file.Close()
}

// newGenerator returns a generator of boards. Each part has different content, which is the same in every run except for
// the times.
func newGenerator(owner string, part, cards, open int, now time.Time) generator {
	random := rand.New(rand.NewPCG(2, uint64(part)))
	return generator{random: random, words: rand.NewZipf(random, 1.1, 4, 4095), now: now, owner: owner, cards: cards, open: open}
}

// writeDocument writes a workspace. Each part has different content, which is the same in every run except for the times,
// which are relative to now. The owner is the id of a user, who is also one of the assignees.
func writeDocument(w io.Writer, owner string, part, boards int, now time.Time) error {
	g := newGenerator(owner, part, reportCards, reportCards, now)
	if _, err := fmt.Fprintf(w, `{"format":"cardwall-workspace-export/1","exportedAt":%q,"workspace":{},"boards":[`,
		now.Format(instantLayout)); err != nil {
		return err
	}
	total := docCounts{Boards: boards}
	for i := range boards {
		if i > 0 {
			if _, err := io.WriteString(w, ","); err != nil {
				return err
			}
		}
		b := g.board(part*boards + i)
		if err := json.MarshalWrite(w, b, json.Deterministic(true)); err != nil {
			return err
		}
		total.Users += b.Counts.Users
		total.Labels += b.Counts.Labels
		total.Lists += b.Counts.Lists
		total.Cards += b.Counts.Cards
		total.Activity += b.Counts.Activity
	}
	counts, err := json.Marshal(total)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, `],"counts":%s,"complete":true}`, counts)
	return err
}
