package board

// ItemCount is the progress of a card's checklists.
type ItemCount struct {
	Done  int `json:"done" doc:"The number of items that are done." example:"2"`
	Total int `json:"total" doc:"The number of all items." example:"5"`
}

// Card is a single piece of work in a list.
type Card struct {
	ID          string     `json:"id" doc:"The card's id." example:"crd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	BoardID     string     `json:"boardId" doc:"The board it is on." example:"brd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	ListID      string     `json:"listId" doc:"The list it is in." example:"lst_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Number      int        `json:"number" doc:"Its number on the board. Numbers are never reused." example:"7"`
	Title       string     `json:"title" doc:"The title." example:"Write the press release"`
	Description *string    `json:"description,omitzero" nullable:"false" doc:"The description, in Markdown. Omitted in the compact view." example:"Two paragraphs, one picture."`
	Done        bool       `json:"done" doc:"Whether the work is done." example:"false"`
	DoneAt      *Instant   `json:"doneAt" format:"date-time" doc:"When it was marked as done; null if it is not done." example:"2026-03-12T16:20:00.000Z"`
	ArchivedAt  *Instant   `json:"archivedAt" format:"date-time" doc:"When it was archived, by itself or with its list; null if it is open." example:"2026-03-20T12:00:00.000Z"`
	ArchivedBy  *Archived  `json:"archivedBy" enum:"card,list" doc:"Why it is archived: card if it was archived itself, list if its list is archived; null if it is open." example:"card"`
	Labels      []LabelRef `json:"labels" doc:"Its labels, sorted by name."`
	Assignees   []UserRef  `json:"assignees" doc:"The assignees, in the order in which they were assigned."`
	Due
	ChecklistItems ItemCount `json:"checklistItems" doc:"The progress of its checklists."`
	Comments       int       `json:"comments" doc:"The number of comments." example:"3"`
	CreatedBy      *string   `json:"createdBy" doc:"The person who created it; null if it was not created by a person." example:"usr_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	CreatedAt      Instant   `json:"createdAt" format:"date-time" doc:"When it was created." example:"2026-03-01T09:00:00.000Z"`
	UpdatedAt      Instant   `json:"updatedAt" format:"date-time" doc:"When the card, its comments or its checklists last changed." example:"2026-03-11T10:00:00.000Z"`
	URL            string    `json:"url" format:"uri" doc:"The URL of the card in the application." example:"https://cardwall.example.com/cards/crd_01jb2m3n4p5q6r7s8t9v0w1x2y"`

	Rank           string   `json:"-"` // internal; never in a response
	ListArchivedAt *Instant `json:"-"` // when the list was archived; SetArchived derives ArchivedAt and Archived from it
}

// Archived is the reason why a card is archived.
type Archived string

// The reasons why a card is archived. A card that was archived itself stays
// archived when its list is restored.
const (
	ArchivedByCard Archived = "card"
	ArchivedByList Archived = "list"
)

// SetArchived sets when and why the card is archived. Own is when the card
// itself was archived, list is when its list was archived; nil means not
// archived.
func (c *Card) SetArchived(own, list *Instant) {
	switch {
	case own != nil:
		c.ArchivedAt, c.ArchivedBy = own, new(ArchivedByCard)
	case list != nil:
		c.ArchivedAt, c.ArchivedBy = list, new(ArchivedByList)
	default:
		c.ArchivedAt, c.ArchivedBy = nil, nil
	}
}

// OwnArchivedAt returns when the card itself was archived, or nil if it was
// not.
func (c *Card) OwnArchivedAt() *Instant {
	if c.ArchivedBy != nil && *c.ArchivedBy == ArchivedByList {
		return nil
	}
	return c.ArchivedAt
}

// CardDetail is a card with its checklists.
type CardDetail struct {
	Card
	Checklists []Checklist `json:"checklists" doc:"Its checklists with their items."`
}

// Checklist is a list of items on a card.
type Checklist struct {
	ID        string          `json:"id" doc:"The checklist's id." example:"chk_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	CardID    string          `json:"cardId" doc:"The card it is on." example:"crd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Title     string          `json:"title" doc:"Its title." example:"Before sending"`
	Items     []ChecklistItem `json:"items" doc:"Its items, in order."`
	CreatedAt Instant         `json:"createdAt" format:"date-time" doc:"When it was created." example:"2026-03-01T09:00:00.000Z"`
	UpdatedAt Instant         `json:"updatedAt" format:"date-time" doc:"When it or one of its items last changed." example:"2026-03-11T10:00:00.000Z"`
}

// ChecklistItem is one item of a checklist.
type ChecklistItem struct {
	ID          string   `json:"id" doc:"The item's id." example:"chi_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	ChecklistID string   `json:"checklistId" doc:"The checklist it is in." example:"chk_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Title       string   `json:"title" doc:"The title." example:"Check the names"`
	Done        bool     `json:"done" doc:"Whether it is done." example:"false"`
	DoneAt      *Instant `json:"doneAt" format:"date-time" doc:"When it was marked as done; null if it is not done." example:"2026-03-12T16:20:00.000Z"`
	CreatedAt   Instant  `json:"createdAt" format:"date-time" doc:"When it was created." example:"2026-03-01T09:00:00.000Z"`
	UpdatedAt   Instant  `json:"updatedAt" format:"date-time" doc:"When it last changed." example:"2026-03-11T10:00:00.000Z"`

	Rank string `json:"-"` // internal; never in a response
}

// Comment is a comment on a card.
type Comment struct {
	ID        string   `json:"id" doc:"The comment's id." example:"cmt_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	CardID    string   `json:"cardId" doc:"The card it is on." example:"crd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	BoardID   string   `json:"boardId" doc:"The board of the card." example:"brd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Author    *UserRef `json:"author" doc:"The author; null if the author is not a person."`
	GuestName *string  `json:"guestName" doc:"The name given by a guest of the board's public page; null if the author is not a guest." example:"Rosa"`
	Text      string   `json:"text" doc:"The text, in Markdown." example:"The printer wants it by Friday."`
	CreatedAt Instant  `json:"createdAt" format:"date-time" doc:"When it was posted." example:"2026-03-02T09:00:00.000Z"`
	EditedAt  *Instant `json:"editedAt" format:"date-time" doc:"When it was last edited; null for never." example:"2026-03-02T09:05:00.000Z"`
}
