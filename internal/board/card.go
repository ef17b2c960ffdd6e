package board

// ItemCount is the progress of a card's checklists.
type ItemCount struct {
	Done  int `json:"done" doc:"The number of items that are done." example:"2"`
	Total int `json:"total" doc:"The total number of items." example:"5"`
}

// Card is a single piece of work in a list.
type Card struct {
	ID          string     `json:"id" doc:"The card's id." example:"crd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	BoardID     string     `json:"boardId" doc:"The id of the board that the card is on." example:"brd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	ListID      string     `json:"listId" doc:"The id of the list that the card is in." example:"lst_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Number      int        `json:"number" doc:"The card's number on the board. Numbers are never reused." example:"7"`
	Title       string     `json:"title" doc:"The card's title." example:"Write the press release"`
	Description *string    `json:"description,omitzero" nullable:"false" doc:"The card's description, in Markdown. Omitted in the compact view." example:"Two paragraphs, one picture."`
	Done        bool       `json:"done" doc:"Whether the card is done." example:"false"`
	DoneAt      *Instant   `json:"doneAt" format:"date-time" doc:"When the card was marked as done; null if it is not done." example:"2026-03-12T16:20:00.000Z"`
	ArchivedAt  *Instant   `json:"archivedAt" format:"date-time" doc:"When the card was archived, by itself or with its list; null if it is open." example:"2026-03-20T12:00:00.000Z"`
	ArchivedBy  *Archived  `json:"archivedBy" enum:"card,list" doc:"Why the card is archived. card: the card itself was archived. list: its list is archived. null if the card is open." example:"card"`
	Labels      []LabelRef `json:"labels" doc:"The card's labels, sorted by name."`
	Assignees   []UserRef  `json:"assignees" doc:"The card's assignees, in the order in which they were assigned."`
	Due
	ChecklistItems ItemCount `json:"checklistItems" doc:"The progress of the card's checklists."`
	Comments       int       `json:"comments" doc:"The number of comments on the card." example:"3"`
	Attachments    int       `json:"attachments" doc:"The number of files and links on the card." example:"2"`
	Cover          *Cover    `json:"cover" doc:"The picture on the card's tile; null if it has none."`
	CreatedBy      *string   `json:"createdBy" doc:"The id of the person who created the card; null if it was not created by a person." example:"usr_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	CreatedAt      Instant   `json:"createdAt" format:"date-time" doc:"When the card was created." example:"2026-03-01T09:00:00.000Z"`
	UpdatedAt      Instant   `json:"updatedAt" format:"date-time" doc:"When the card, its comments, its checklists or its attachments last changed." example:"2026-03-11T10:00:00.000Z"`
	URL            string    `json:"url" format:"uri" doc:"The URL of the card in the application." example:"https://cardwall.example.com/cards/crd_01jb2m3n4p5q6r7s8t9v0w1x2y"`

	// The columns from which SetCover derives Cover.
	CoverID                 *string `json:"-"`
	CoverWidth, CoverHeight *int    `json:"-"`

	Rank           string   `json:"-"` // internal; never in a response
	ListArchivedAt *Instant `json:"-"` // when the list was archived; SetArchived derives ArchivedAt and ArchivedBy from it
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
// itself was archived, and list is when its list was archived; nil means not
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

// SetCover sets Cover from the columns of the card.
func (c *Card) SetCover() {
	c.Cover = nil
	if c.CoverID != nil && c.CoverWidth != nil && c.CoverHeight != nil {
		c.Cover = &Cover{AttachmentID: *c.CoverID, Width: *c.CoverWidth, Height: *c.CoverHeight}
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
	Checklists []Checklist `json:"checklists" doc:"The card's checklists with their items."`
}

// Checklist is a list of items on a card.
type Checklist struct {
	ID        string          `json:"id" doc:"The checklist's id." example:"chk_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	CardID    string          `json:"cardId" doc:"The id of the card that the checklist is on." example:"crd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Title     string          `json:"title" doc:"The checklist's title." example:"Before sending"`
	Items     []ChecklistItem `json:"items" doc:"The checklist's items, in order."`
	CreatedAt Instant         `json:"createdAt" format:"date-time" doc:"When the checklist was created." example:"2026-03-01T09:00:00.000Z"`
	UpdatedAt Instant         `json:"updatedAt" format:"date-time" doc:"When the checklist or one of its items last changed." example:"2026-03-11T10:00:00.000Z"`
}

// ChecklistItem is one item of a checklist.
type ChecklistItem struct {
	ID          string   `json:"id" doc:"The item's id." example:"chi_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	ChecklistID string   `json:"checklistId" doc:"The id of the checklist that the item is in." example:"chk_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Title       string   `json:"title" doc:"The item's title." example:"Check the names"`
	Done        bool     `json:"done" doc:"Whether the item is done." example:"false"`
	DoneAt      *Instant `json:"doneAt" format:"date-time" doc:"When the item was marked as done; null if it is not done." example:"2026-03-12T16:20:00.000Z"`
	CreatedAt   Instant  `json:"createdAt" format:"date-time" doc:"When the item was created." example:"2026-03-01T09:00:00.000Z"`
	UpdatedAt   Instant  `json:"updatedAt" format:"date-time" doc:"When the item last changed." example:"2026-03-11T10:00:00.000Z"`

	Rank string `json:"-"` // internal; never in a response
}

// Comment is a comment on a card.
type Comment struct {
	ID        string   `json:"id" doc:"The comment's id." example:"cmt_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	CardID    string   `json:"cardId" doc:"The id of the card that the comment is on." example:"crd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	BoardID   string   `json:"boardId" doc:"The id of the board that the card is on." example:"brd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Author    *UserRef `json:"author" doc:"The person who wrote the comment; null if it was not written by a person with an account."`
	GuestName *string  `json:"guestName" doc:"The name given by the guest of the board's public page who wrote the comment; null if the author is not a guest." example:"Rosa"`
	Text      string   `json:"text" doc:"The comment's text, in Markdown." example:"The printer wants it by Friday."`
	CreatedAt Instant  `json:"createdAt" format:"date-time" doc:"When the comment was posted." example:"2026-03-02T09:00:00.000Z"`
	EditedAt  *Instant `json:"editedAt" format:"date-time" doc:"When the comment was last edited; null if it has never been edited." example:"2026-03-02T09:05:00.000Z"`
}
