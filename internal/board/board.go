package board

import "cmp"

// Board is a board without its lists and cards, as in a list of boards.
type Board struct {
	ID          string     `json:"id" doc:"The board's id." example:"brd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	WorkspaceID string     `json:"workspaceId" doc:"The id of the workspace that the board belongs to." example:"wsp_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Name        string     `json:"name" doc:"The board's name." example:"Launch"`
	Description string     `json:"description" doc:"The board's description, in Markdown." example:"Everything until the launch."`
	Visibility  Visibility `json:"visibility" enum:"workspace,private,confidential" doc:"Who can see the board." example:"workspace"`
	Color       *Color     `json:"color" enum:"gray,red,orange,yellow,lime,green,teal,sky,blue,purple,pink,brown" doc:"The board's color; null if it has none." example:"teal"`
	Background  *string    `json:"background" doc:"The version of the picture behind the lists, which download_background returns; null if there is none." example:"9f86d081884c7d65"`
	Features    Features   `json:"features" doc:"The board's optional features, and whether each is enabled."`
	Role        Role       `json:"role" enum:"admin,editor,commenter,viewer" doc:"The caller's role on the board." example:"admin"`
	Version     int64      `json:"version" doc:"The boardVersion, which increases by one with every change to the board." example:"42"`
	OpenCards   int        `json:"openCards" doc:"The number of cards on the board that are neither archived nor in an archived list, including done ones." example:"17"`
	Unfinished  int        `json:"unfinishedCards" doc:"The number of open cards on the board: those that are neither done, archived nor in an archived list." example:"12"`
	ArchivedAt  *Instant   `json:"archivedAt" format:"date-time" doc:"When the board was archived; null if it is not archived." example:"2026-03-01T12:00:00.000Z"`
	TrashedAt   *Instant   `json:"trashedAt" format:"date-time" doc:"When the board was moved to the trash, where it stays for 30 days; null if it is not in the trash." example:"2026-03-01T12:00:00.000Z"`
	CreatedBy   *string    `json:"createdBy" doc:"The id of the person who created the board; null if it was not created by a person." example:"usr_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	CreatedAt   Instant    `json:"createdAt" format:"date-time" doc:"When the board was created." example:"2026-01-05T09:00:00.000Z"`
	UpdatedAt   Instant    `json:"updatedAt" format:"date-time" doc:"When anything on the board last changed." example:"2026-02-01T10:00:00.000Z"`
	URL         string     `json:"url" format:"uri" doc:"The URL of the board in the application." example:"https://cardwall.example.com/boards/brd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
}

// BoardLimits holds the limits of a board with their current usage.
type BoardLimits struct {
	OpenCards         Usage `json:"openCards" doc:"The number of cards on the board that are not archived, including done ones, and the limit."`
	AllCards          Usage `json:"allCards" doc:"The number of cards on the board, including archived ones, and the limit."`
	OpenLists         Usage `json:"openLists" doc:"The number of open lists on the board, and the limit."`
	Labels            Usage `json:"labels" doc:"The number of labels on the board, and the limit."`
	Members           Usage `json:"members" doc:"The number of people with whom the board is shared, and the limit."`
	Webhooks          Usage `json:"webhooks" doc:"The number of webhooks for the board, and the limit."`
	ChecklistsPerCard int   `json:"checklistsPerCard" doc:"The maximum number of checklists on a card." example:"100"`
	ItemsPerChecklist int   `json:"itemsPerChecklist" doc:"The maximum number of items in a checklist." example:"200"`
	AssigneesPerCard  int   `json:"assigneesPerCard" doc:"The maximum number of people to whom a card can be assigned." example:"50"`
	TitleLength       int   `json:"titleLength" doc:"The maximum number of characters in a title or name." example:"512"`
	TextLength        int   `json:"textLength" doc:"The maximum number of characters in a description or comment." example:"16384"`
}

// BoardDetail is a board with everything a client needs before it reads cards.
type BoardDetail struct {
	Board
	Lists  []List      `json:"lists" doc:"The board's open lists, in order."`
	Labels []Label     `json:"labels" doc:"The board's labels, sorted by name."`
	Limits BoardLimits `json:"limits" doc:"The limits of the board and their current usage."`
}

// BoardMember is a person who can see a board, through a role on the board or
// through the workspace.
type BoardMember struct {
	ID     string  `json:"id" doc:"The person's user id." example:"usr_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Name   string  `json:"name" doc:"The person's display name." example:"Ada Lovelace"`
	Role   Role    `json:"role" enum:"admin,editor,commenter,viewer" doc:"The person's effective role on the board. It takes the person's role in the workspace into account." example:"editor"`
	Given  *Role   `json:"given" enum:"admin,editor,commenter,viewer" doc:"The role that the person was given on the board itself; null if the person has a role only through the workspace." example:"editor"`
	Avatar *string `json:"avatar" doc:"The version of the person's picture, which download_avatar returns; null if the person has none." example:"9f86d081884c7d65"`
}

// List is a column of a board.
type List struct {
	ID         string   `json:"id" doc:"The list's id." example:"lst_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	BoardID    string   `json:"boardId" doc:"The id of the board that the list is on." example:"brd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Name       string   `json:"name" doc:"The list's name." example:"In progress"`
	OpenCards  int      `json:"openCards" doc:"The number of cards in the list that are not archived, including done ones; 0 if the list is archived." example:"3"`
	WIPLimit   *int     `json:"wipLimit" doc:"The WIP limit: the maximum number of cards that the list should hold, not counting archived ones; null if there is no limit." example:"5"`
	WIPMode    WIPMode  `json:"wipMode" enum:"soft,hard" doc:"What happens at the WIP limit. soft: the application shows a warning. hard: further cards are rejected with capacity_full." example:"soft"`
	ArchivedAt *Instant `json:"archivedAt" format:"date-time" doc:"When the list was archived; null if it is open." example:"2026-03-01T12:00:00.000Z"`
	CreatedAt  Instant  `json:"createdAt" format:"date-time" doc:"When the list was created." example:"2026-01-05T09:00:00.000Z"`
	UpdatedAt  Instant  `json:"updatedAt" format:"date-time" doc:"When the list last changed." example:"2026-02-01T10:00:00.000Z"`

	Rank string `json:"-"` // internal; never in a response
}

// Label marks cards of a board with a name and a color.
type Label struct {
	ID        string  `json:"id" doc:"The label's id." example:"lbl_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	BoardID   string  `json:"boardId" doc:"The id of the board that the label belongs to." example:"brd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Name      string  `json:"name" doc:"The label's name; empty if the label has only a color." example:"Bug"`
	Color     Color   `json:"color" enum:"gray,red,orange,yellow,lime,green,teal,sky,blue,purple,pink,brown" doc:"The label's color." example:"red"`
	CreatedAt Instant `json:"createdAt" format:"date-time" doc:"When the label was created." example:"2026-01-05T09:00:00.000Z"`
	UpdatedAt Instant `json:"updatedAt" format:"date-time" doc:"When the label last changed." example:"2026-02-01T10:00:00.000Z"`
}

// Color is a color of the palette. The application draws each in a light and a
// dark variant.
type Color string

// Colors is the palette for labels and boards.
var Colors = [...]Color{"gray", "red", "orange", "yellow", "lime", "green", "teal", "sky", "blue", "purple", "pink", "brown"}

// LabelRef is a label as it appears on a card.
type LabelRef struct {
	ID    string `json:"id" doc:"The label's id." example:"lbl_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Name  string `json:"name" doc:"The label's name." example:"Bug"`
	Color Color  `json:"color" enum:"gray,red,orange,yellow,lime,green,teal,sky,blue,purple,pink,brown" doc:"The label's color." example:"red"`
}

// Compare orders labels by name, then by id.
func (l LabelRef) Compare(o LabelRef) int {
	return cmp.Or(cmp.Compare(l.Name, o.Name), cmp.Compare(l.ID, o.ID))
}
