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

// boardExport is the document that Export writes, member by member and in this order. It is only used
// for the schema.
type boardExport struct {
	Format        string               `json:"format" enum:"cardwall-export/1" doc:"The format."`
	ExportedAt    board.Instant        `json:"exportedAt" format:"date-time" doc:"Time of the export."`
	BoardVersion  int64                `json:"boardVersion" doc:"The boardVersion of the exported state."`
	Board         boardRecord          `json:"board" doc:"The board."`
	Users         []userRecord         `json:"users" doc:"The people that the board refers to, by name."`
	Labels        []labelRecord        `json:"labels" doc:"The labels, by name."`
	Lists         []listRecord         `json:"lists" doc:"The lists from left to right, including archived ones."`
	Cards         []cardExport         `json:"cards" doc:"The cards, list by list, including archived ones."`
	StatusUpdates []statusUpdateRecord `json:"statusUpdates" doc:"The status updates, oldest first."`
	SavedFilters  []savedFilterRecord  `json:"savedFilters,omitzero" doc:"The shared filters that refer to the board. Absent within the export of a workspace."`
	Activity      []entryRecord        `json:"activity" doc:"All changes, oldest first."`
	Counts        countsRecord         `json:"counts" doc:"The number of records of each type."`
	Complete      bool                 `json:"complete" doc:"Always true. Absent from an incomplete document."`
}

// workspaceExport is the document that ExportWorkspace writes.
type workspaceExport struct {
	Format       string              `json:"format" enum:"cardwall-workspace-export/1" doc:"The format."`
	ExportedAt   board.Instant       `json:"exportedAt" format:"date-time" doc:"Time of the export."`
	Workspace    userRecord          `json:"workspace" doc:"The workspace."`
	Boards       []boardExport       `json:"boards" doc:"The boards, each with its own counts."`
	SavedFilters []savedFilterRecord `json:"savedFilters" doc:"The shared filters of the workspace, oldest first."`
	Counts       countsRecord        `json:"counts" doc:"The number of records of each type."`
	Complete     bool                `json:"complete" doc:"Always true. Absent from an incomplete document."`
}

// cardExport is a card in an export.
type cardExport struct {
	CardRecord
	Comments []commentRecord `json:"comments" doc:"Comments, oldest first."`
}

// The records of the format are separate from those of the API. API records may
// gain fields, but stored documents do not change. Ranks, URLs and derived
// counts are not included. A change that older readers would misinterpret
// requires a new format.

type boardRecord struct {
	ID          string           `json:"id" doc:"Id of the board."`
	Name        string           `json:"name" doc:"Name of the board."`
	Description string           `json:"description" doc:"Description of the board, in Markdown."`
	Color       *board.Color     `json:"color" enum:"gray,red,orange,yellow,lime,green,teal,sky,blue,purple,pink,brown" doc:"Color of the board; null if it has none."`
	Background  *pictureRecord   `json:"background,omitzero" doc:"Picture behind the lists. Absent if there is none."`
	Visibility  board.Visibility `json:"visibility" enum:"workspace,private,confidential" doc:"Who can see the board."`
	Features    board.Features   `json:"features" doc:"Optional features of the board, and whether each is enabled."`
	NextNumber  int              `json:"nextNumber" doc:"Number that the next card gets."`
	ReducedTo   int64            `json:"reducedTo,omitzero" doc:"Up to this version, the activity may have gaps. Absent if it has none."`
	Cards       int              `json:"cards" doc:"Number of cards, including archived ones."`
	ArchivedAt  *board.Instant   `json:"archivedAt" format:"date-time" doc:"When it was archived; null if it is not archived."`
	CreatedBy   *string          `json:"createdBy" doc:"Id of the person who created it; null if it was not created by a person."`
	CreatedAt   board.Instant    `json:"createdAt" format:"date-time" doc:"When it was created."`
	UpdatedAt   board.Instant    `json:"updatedAt" format:"date-time" doc:"When it last changed."`
}

// pictureRecord is a small picture, such as the one behind the lists of a board.
type pictureRecord struct {
	MediaType string `json:"mediaType" doc:"Media type of the picture."`
	Content   []byte `json:"content" doc:"Content of the picture, base64-encoded."`
}

type userRecord struct {
	ID   string `json:"id" doc:"Id."`
	Name string `json:"name" doc:"Name."`
}

type labelRecord struct {
	ID        string        `json:"id" doc:"Id of the label."`
	Name      string        `json:"name" doc:"Name of the label."`
	Color     board.Color   `json:"color" enum:"gray,red,orange,yellow,lime,green,teal,sky,blue,purple,pink,brown" doc:"Color of the label."`
	CreatedAt board.Instant `json:"createdAt" format:"date-time" doc:"When it was created."`
	UpdatedAt board.Instant `json:"updatedAt" format:"date-time" doc:"When it last changed."`
}

type listRecord struct {
	ID         string         `json:"id" doc:"Id of the list."`
	Name       string         `json:"name" doc:"Name of the list."`
	WIPLimit   *int           `json:"wipLimit" doc:"Limit of open cards; null if there is none."`
	WIPMode    board.WIPMode  `json:"wipMode" enum:"soft,hard" doc:"Whether the limit is only shown (soft) or enforced (hard)."`
	ArchivedAt *board.Instant `json:"archivedAt" format:"date-time" doc:"When it was archived; null if it is not archived."`
	CreatedAt  board.Instant  `json:"createdAt" format:"date-time" doc:"When it was created."`
	UpdatedAt  board.Instant  `json:"updatedAt" format:"date-time" doc:"When it last changed."`
}

// CardRecord is a card without its comments, which an export writes one by one. It is exported
// because schemas include the fields only of exported embedded types.
type CardRecord struct {
	ID          string          `json:"id" doc:"Id of the card."`
	ListID      string          `json:"listId" doc:"Id of the list that the card is in."`
	Number      int             `json:"number" doc:"Number of the card on the board."`
	Title       string          `json:"title" doc:"Title of the card."`
	Description string          `json:"description" doc:"Description of the card, in Markdown."`
	DoneAt      *board.Instant  `json:"doneAt" format:"date-time" doc:"When the card was marked as done; null if it is not done."`
	ArchivedAt  *board.Instant  `json:"archivedAt" format:"date-time" doc:"When the card was archived, by itself or with its list; null if it is open."`
	ArchivedBy  *board.Archived `json:"archivedBy" enum:"card,list" doc:"Whether the card itself or its list was archived; null if the card is open."` // absent from documents of before 0.3.0, whose archivedAt is the card's own
	Labels      []string        `json:"labels" doc:"Ids of the labels."`
	Assignees   []string        `json:"assignees" doc:"Ids of the assignees."`
	board.Due
	CreatedBy  *string           `json:"createdBy" doc:"Id of the person who created it; null if it was not created by a person."`
	CreatedAt  board.Instant     `json:"createdAt" format:"date-time" doc:"When it was created."`
	UpdatedAt  board.Instant     `json:"updatedAt" format:"date-time" doc:"When the card, its comments, its checklists or its attachments last changed."`
	Checklists []checklistRecord `json:"checklists" doc:"Checklists, in order."`

	Attachments []attachmentRecord `json:"attachments,omitempty" doc:"Files and links. Absent if there are none."`
}

// attachmentRecord is a link, or a file without its content.
type attachmentRecord struct {
	ID        string        `json:"id" doc:"Id of the attachment."`
	Name      string        `json:"name" doc:"File name, or text of the link."`
	URL       *string       `json:"url,omitzero" format:"uri" doc:"URL of a link. Absent for a file."`
	MediaType *string       `json:"mediaType,omitzero" doc:"Media type of a file. Absent for a link."`
	Size      *int64        `json:"size,omitzero" doc:"Size of a file in bytes. Absent for a link."`
	SHA256    *string       `json:"sha256,omitzero" doc:"SHA-256 hash of a file, in hexadecimal. Absent for a link."`
	Cover     bool          `json:"cover,omitzero" doc:"Whether the picture is the card's cover. Absent if it is not."`
	CreatedBy *string       `json:"createdBy" doc:"Id of the person who created it; null if it was not created by a person."`
	CreatedAt board.Instant `json:"createdAt" format:"date-time" doc:"When it was created."`
	UpdatedAt board.Instant `json:"updatedAt" format:"date-time" doc:"When it last changed."`
}

type checklistRecord struct {
	ID        string        `json:"id" doc:"Id of the checklist."`
	Title     string        `json:"title" doc:"Title of the checklist."`
	CreatedAt board.Instant `json:"createdAt" format:"date-time" doc:"When it was created."`
	UpdatedAt board.Instant `json:"updatedAt" format:"date-time" doc:"When it last changed."`
	Items     []itemRecord  `json:"items" doc:"Items, in order."`
}

type itemRecord struct {
	ID        string         `json:"id" doc:"Id of the item."`
	Title     string         `json:"title" doc:"Title of the item."`
	DoneAt    *board.Instant `json:"doneAt" format:"date-time" doc:"When the item was completed; null if it is not done."`
	CreatedAt board.Instant  `json:"createdAt" format:"date-time" doc:"When it was created."`
	UpdatedAt board.Instant  `json:"updatedAt" format:"date-time" doc:"When it last changed."`
}

type commentRecord struct {
	ID        string         `json:"id" doc:"Id of the comment."`
	Author    *string        `json:"author" doc:"Id of the author; null if the author is not a person with an account."`
	GuestName *string        `json:"guestName" doc:"Name of a guest who wrote the comment on the public page; null for others."`
	Text      string         `json:"text" doc:"Text, in Markdown."`
	CreatedAt board.Instant  `json:"createdAt" format:"date-time" doc:"When it was created."`
	EditedAt  *board.Instant `json:"editedAt" format:"date-time" doc:"When the text last changed; null if it never did."`
}

type statusUpdateRecord struct {
	ID         string        `json:"id" doc:"Id of the status update."`
	Status     board.Status  `json:"status" enum:"on_track,at_risk,off_track,on_hold,complete" doc:"How the board was doing."`
	Title      string        `json:"title" doc:"One-line summary."`
	Text       string        `json:"text" doc:"Text, in Markdown."`
	StartDate  *string       `json:"startDate" format:"date" doc:"Day on which the work starts or started; null if there is none."`
	TargetDate *string       `json:"targetDate" format:"date" doc:"Day by which the work should be complete; null if there is none."`
	Author     *string       `json:"author" doc:"Id of the author; null if it was not posted by a person."`
	CreatedAt  board.Instant `json:"createdAt" format:"date-time" doc:"When it was created."`
	Snapshot   board.Figures `json:"snapshot" doc:"Figures of the board at that time."`
}

// savedFilterRecord is a shared filter; other filters are never exported. Its
// owner need not be among the document's users, which are only the people that the
// boards refer to.
type savedFilterRecord struct {
	ID        string        `json:"id" doc:"Id of the filter."`
	Name      string        `json:"name" doc:"Name of the filter."`
	Query     string        `json:"query" doc:"Query, in the search grammar."`
	Owner     userRecord    `json:"owner" doc:"Person who owns the filter."`
	CreatedAt board.Instant `json:"createdAt" format:"date-time" doc:"When it was created."`
	UpdatedAt board.Instant `json:"updatedAt" format:"date-time" doc:"When it last changed."`
}

type entryRecord struct {
	ID           string           `json:"id" doc:"Id of the entry."`
	Type         board.Kind       `json:"type" doc:"Kind of change."`
	At           board.Instant    `json:"at" format:"date-time" doc:"When the change happened."`
	Actor        board.EntryActor `json:"actor" doc:"Actor that caused the change."`
	ListID       *string          `json:"listId" doc:"Id of the affected list; null if there is none."`
	CardID       *string          `json:"cardId" doc:"Id of the affected card; null if there is none."`
	Changes      board.Changes    `json:"changes" doc:"Previous and new value of each changed field."`
	BoardVersion int64            `json:"boardVersion" doc:"The boardVersion after this change."`
}

// countsRecord holds the number of records of each type. It is at the end of a
// document, so that readers can detect missing parts.
type countsRecord struct {
	Boards        int `json:"boards,omitzero" doc:"Number of boards. Only in the export of a workspace."`
	Users         int `json:"users" doc:"Number of users."`
	Labels        int `json:"labels" doc:"Number of labels."`
	Lists         int `json:"lists" doc:"Number of lists."`
	Cards         int `json:"cards" doc:"Number of cards."`
	Checklists    int `json:"checklists" doc:"Number of checklists."`
	Items         int `json:"items" doc:"Number of checklist items."`
	Comments      int `json:"comments" doc:"Number of comments."`
	Attachments   int `json:"attachments,omitzero" doc:"Number of files and links. Absent if there are none."`
	StatusUpdates int `json:"statusUpdates" doc:"Number of status updates."`
	SavedFilters  int `json:"savedFilters" doc:"Number of saved filters."`
	Activity      int `json:"activity" doc:"Number of entries of the activity."`
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
