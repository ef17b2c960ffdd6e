// Package document generates boards and workspaces for import, in Cardwall's export format. The content is realistic,
// and the same in every run except for the times.
package document

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"time"

	"github.com/go-json-experiment/json"
)

// The workspaces for the reports are imported with "cardwall import cardwall", because creating 100,000 cards through
// the API would take longer than all benchmarks together. The types below contain the parts of the cardwall-export/1
// format that the import needs.

const (
	Boards = 50   // number of boards that WriteWorkspaceFile writes
	Cards  = 1000 // number of cards on each of these boards

	people     = 20
	heavyWords = 1000 // number of words in the description of a heavy card

	// FilterLabel is the label that the saved filter of the benchmarks searches for.
	FilterLabel = "Bug"
	// InstantLayout is the format of times.
	InstantLayout = "2006-01-02T15:04:05.000Z"
)

// FrequentWords are the two most frequent words of the generated text.
const FrequentWords = "can dan"

// Words to search for. They occur only where the generator adds them.
const (
	RareEvery   = 1000 // one in this many cards has a rare word
	MediumWord  = "zeppelin"
	mediumEvery = 55 // about 1,800 of 100,000 cards match, slightly fewer than fewCards in internal/store
	CommonWord  = "customer"
	CommonEvery = 3
)

// Text is about 200 bytes of ordinary text.
const Text = "The customer cannot open the report of last month when two filters are set. Seen on two machines; " +
	"the log names a missing column. Find out since when, fix it, add a test and tell the customer."

// RareWords returns the rare words. Each occurs in 20 of 100,000 cards.
func RareWords() []string { return []string{"quagga", "quetzal", "quokka", "quoll", "quahog"} }

// labelNames returns the names of the labels on a board. A board has as many lists as labels.
func labelNames() []string {
	return []string{FilterLabel, "Idea", "Urgent", "Waiting", "Cost", "Design"}
}

// Board is the export document of a board.
type Board struct {
	Format       string  `json:"format"`
	ExportedAt   string  `json:"exportedAt"`
	BoardVersion int     `json:"boardVersion"`
	Board        Head    `json:"board"`
	Users        []Name  `json:"users"`
	Labels       []Label `json:"labels"`
	Lists        []List  `json:"lists"`
	Cards        []Card  `json:"cards"`
	Activity     []Entry `json:"activity"`
	Counts       Counts  `json:"counts"`
	Complete     bool    `json:"complete"`
}

// Times holds the times at which a record was created and changed.
type Times struct {
	CreatedAt string `json:"createdAt"`
	UpdatedAt string `json:"updatedAt"`
}

// Head holds the fields of a board.
type Head struct {
	ID          string          `json:"id"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Visibility  string          `json:"visibility"`
	Features    map[string]bool `json:"features"`
	NextNumber  int             `json:"nextNumber"`
	Cards       int             `json:"cards"`
	CreatedBy   string          `json:"createdBy"`
	Times
}

// Name is a record with a name.
type Name struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// Label is a label of a board.
type Label struct {
	Name
	Color string `json:"color"`
	Times
}

// List is a list of a board.
type List struct {
	Name
	WIPLimit int    `json:"wipLimit"`
	WIPMode  string `json:"wipMode"`
	Times
}

// Card is a card.
type Card struct {
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
	Times
	Checklists []Checklist `json:"checklists,omitempty"`
}

// Checklist is a checklist of a card.
type Checklist struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Times
	Items []Item `json:"items"`
}

// Item is an item of a checklist.
type Item struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Times
}

// Entry is a change in the activity of a board.
type Entry struct {
	ID           string         `json:"id"`
	Type         string         `json:"type"`
	At           string         `json:"at"`
	Actor        Actor          `json:"actor"`
	ListID       string         `json:"listId"`
	CardID       string         `json:"cardId"`
	Changes      map[string]any `json:"changes"`
	BoardVersion int            `json:"boardVersion"`
}

// Actor is the author of a change.
type Actor struct {
	Type string `json:"type"`
	ID   string `json:"id"`
}

// Counts holds the number of records of each kind in a document.
type Counts struct {
	Boards   int `json:"boards,omitzero"`
	Users    int `json:"users"`
	Labels   int `json:"labels"`
	Lists    int `json:"lists"`
	Cards    int `json:"cards"`
	Activity int `json:"activity"`

	Checklists int `json:"checklists,omitzero"`
	Items      int `json:"items,omitzero"`
}

// WriteWorkspaceFile writes the document of a workspace with Boards boards of Cards cards to a file. owner is the id of a
// user, who is also assigned to cards.
func WriteWorkspaceFile(path, owner string, part int, now time.Time) error {
	g := NewGenerator(owner, part, Cards, Cards, now.UTC())
	return WriteFile(path, func(w io.Writer) error { return g.WriteWorkspace(w, part*Boards, Boards) })
}

// WriteFile creates a file and writes the output of write to it.
func WriteFile(path string, write func(io.Writer) error) error {
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

// NewGenerator returns a Generator. Each of its boards has the given number of cards, of which open are not archived.
// Different parts have different content, which is the same in every run except for the times.
func NewGenerator(owner string, part, cards, open int, now time.Time) Generator {
	random := rand.New(rand.NewPCG(2, uint64(part)))
	return Generator{random: random, words: rand.NewZipf(random, 1.1, 4, 4095), now: now, owner: owner, cards: cards, open: open}
}

// WriteWorkspace writes the document of a workspace with boards from number first on.
func (g *Generator) WriteWorkspace(w io.Writer, first, boards int) error {
	if _, err := fmt.Fprintf(w, `{"format":"cardwall-workspace-export/1","exportedAt":%q,"workspace":{},"boards":[`,
		g.now.Format(InstantLayout)); err != nil {
		return err
	}
	total := Counts{Boards: boards}
	for i := range boards {
		if i > 0 {
			if _, err := io.WriteString(w, ","); err != nil {
				return err
			}
		}
		b := g.Board(first + i)
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
