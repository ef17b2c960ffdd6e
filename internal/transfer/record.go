package transfer

import (
	"github.com/go-json-experiment/json"

	"cardwall/internal/board"
)

// The formats that Export and ExportWorkspace write, and that Import reads.
const (
	Format          = "cardwall-export/1"
	WorkspaceFormat = "cardwall-workspace-export/1"
)

// The records of the format are separate from those of the API. API records may
// gain fields, but stored documents do not change. Ranks, URLs and derived
// counts are not included. A change that older readers would misinterpret
// requires a new format.

type boardRecord struct {
	ID          string           `json:"id"`
	Name        string           `json:"name"`
	Description string           `json:"description"`
	Color       *board.Color     `json:"color"`
	Background  *pictureRecord   `json:"background,omitzero"`
	Visibility  board.Visibility `json:"visibility"`
	Features    board.Features   `json:"features"`
	NextNumber  int              `json:"nextNumber"`         // number of the next card
	ReducedTo   int64            `json:"reducedTo,omitzero"` // up to this version, the activity may have gaps
	Cards       int              `json:"cards"`              // including archived ones; for progress reports
	ArchivedAt  *board.Instant   `json:"archivedAt"`
	CreatedBy   *string          `json:"createdBy"`
	CreatedAt   board.Instant    `json:"createdAt"`
	UpdatedAt   board.Instant    `json:"updatedAt"`
}

// pictureRecord is a small picture, such as the one behind the lists of a board.
type pictureRecord struct {
	MediaType string `json:"mediaType"`
	Content   []byte `json:"content"` // Base64 in JSON
}

type userRecord struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

type labelRecord struct {
	ID        string        `json:"id"`
	Name      string        `json:"name"`
	Color     board.Color   `json:"color"`
	CreatedAt board.Instant `json:"createdAt"`
	UpdatedAt board.Instant `json:"updatedAt"`
}

type listRecord struct {
	ID         string         `json:"id"`
	Name       string         `json:"name"`
	WIPLimit   *int           `json:"wipLimit"`
	WIPMode    board.WIPMode  `json:"wipMode"`
	ArchivedAt *board.Instant `json:"archivedAt"`
	CreatedAt  board.Instant  `json:"createdAt"`
	UpdatedAt  board.Instant  `json:"updatedAt"`
}

// cardRecord is a card without its comments, which an export writes one by one.
type cardRecord struct {
	ID          string          `json:"id"`
	ListID      string          `json:"listId"`
	Number      int             `json:"number"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	DoneAt      *board.Instant  `json:"doneAt"`
	ArchivedAt  *board.Instant  `json:"archivedAt"`
	ArchivedBy  *board.Archived `json:"archivedBy"` // absent from documents of before 0.3.0, whose archivedAt is the card's own
	Labels      []string        `json:"labels"`
	Assignees   []string        `json:"assignees"`
	board.Due
	CreatedBy  *string           `json:"createdBy"`
	CreatedAt  board.Instant     `json:"createdAt"`
	UpdatedAt  board.Instant     `json:"updatedAt"`
	Checklists []checklistRecord `json:"checklists"`

	Attachments []attachmentRecord `json:"attachments,omitempty"`
}

// attachmentRecord is a link, or a file without its content.
type attachmentRecord struct {
	ID        string        `json:"id"`
	Name      string        `json:"name"`
	URL       *string       `json:"url,omitzero"`
	MediaType *string       `json:"mediaType,omitzero"`
	Size      *int64        `json:"size,omitzero"`
	SHA256    *string       `json:"sha256,omitzero"`
	Cover     bool          `json:"cover,omitzero"`
	CreatedBy *string       `json:"createdBy"`
	CreatedAt board.Instant `json:"createdAt"`
	UpdatedAt board.Instant `json:"updatedAt"`
}

type checklistRecord struct {
	ID        string        `json:"id"`
	Title     string        `json:"title"`
	CreatedAt board.Instant `json:"createdAt"`
	UpdatedAt board.Instant `json:"updatedAt"`
	Items     []itemRecord  `json:"items"`
}

type itemRecord struct {
	ID        string         `json:"id"`
	Title     string         `json:"title"`
	DoneAt    *board.Instant `json:"doneAt"`
	CreatedAt board.Instant  `json:"createdAt"`
	UpdatedAt board.Instant  `json:"updatedAt"`
}

type commentRecord struct {
	ID        string         `json:"id"`
	Author    *string        `json:"author"`
	GuestName *string        `json:"guestName"`
	Text      string         `json:"text"`
	CreatedAt board.Instant  `json:"createdAt"`
	EditedAt  *board.Instant `json:"editedAt"`
}

type statusUpdateRecord struct {
	ID         string        `json:"id"`
	Status     board.Status  `json:"status"`
	Title      string        `json:"title"`
	Text       string        `json:"text"`
	StartDate  *string       `json:"startDate"`
	TargetDate *string       `json:"targetDate"`
	Author     *string       `json:"author"`
	CreatedAt  board.Instant `json:"createdAt"`
	Snapshot   board.Figures `json:"snapshot"`
}

// savedFilterRecord is a shared filter; other filters are never exported. Its
// owner need not be among the document's users, which are only the people that the
// boards refer to.
type savedFilterRecord struct {
	ID        string        `json:"id"`
	Name      string        `json:"name"`
	Query     string        `json:"query"`
	Owner     userRecord    `json:"owner"`
	CreatedAt board.Instant `json:"createdAt"`
	UpdatedAt board.Instant `json:"updatedAt"`
}

type entryRecord struct {
	ID           string           `json:"id"`
	Type         board.Kind       `json:"type"`
	At           board.Instant    `json:"at"`
	Actor        board.EntryActor `json:"actor"`
	ListID       *string          `json:"listId"`
	CardID       *string          `json:"cardId"`
	Changes      board.Changes    `json:"changes"`
	BoardVersion int64            `json:"boardVersion"`
}

// countsRecord holds the number of records of each type. It is at the end of a
// document, so that readers can detect missing parts.
type countsRecord struct {
	Boards        int `json:"boards,omitzero"` // only in a workspace document
	Users         int `json:"users"`
	Labels        int `json:"labels"`
	Lists         int `json:"lists"`
	Cards         int `json:"cards"`
	Checklists    int `json:"checklists"`
	Items         int `json:"items"`
	Comments      int `json:"comments"`
	Attachments   int `json:"attachments,omitzero"`
	StatusUpdates int `json:"statusUpdates"`
	SavedFilters  int `json:"savedFilters"`
	Activity      int `json:"activity"`
}

// String returns the counts as JSON, as they appear in the document.
func (c countsRecord) String() string {
	text, _ := json.Marshal(c) // integers can always be encoded
	return string(text)
}

func (c *countsRecord) add(o countsRecord) {
	c.Boards += o.Boards
	c.Users += o.Users
	c.Labels += o.Labels
	c.Lists += o.Lists
	c.Cards += o.Cards
	c.Checklists += o.Checklists
	c.Items += o.Items
	c.Comments += o.Comments
	c.Attachments += o.Attachments
	c.StatusUpdates += o.StatusUpdates
	c.SavedFilters += o.SavedFilters
	c.Activity += o.Activity
}
