package board

import "cmp"

// Board is a board without its lists and cards, as in a list of boards.
type Board struct {
	ID          string     `json:"id" doc:"The board's id." example:"brd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	WorkspaceID string     `json:"workspaceId" doc:"The workspace it belongs to." example:"wsp_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Name        string     `json:"name" doc:"Its name." example:"Launch"`
	Description string     `json:"description" doc:"Its description, in Markdown." example:"Everything until the launch."`
	Visibility  Visibility `json:"visibility" enum:"workspace,private,confidential" doc:"Who can see it." example:"workspace"`
	Color       *Color     `json:"color" enum:"gray,red,orange,yellow,lime,green,teal,sky,blue,purple,pink,brown" doc:"Its color; null for none." example:"teal"`
	Features    Features   `json:"features" doc:"Its optional features, each on or off."`
	Role        Role       `json:"role" enum:"admin,editor,commenter,viewer" doc:"The caller's role on it." example:"admin"`
	Version     int64      `json:"version" doc:"The boardVersion, which grows by one with every change to the board." example:"42"`
	OpenCards   int        `json:"openCards" doc:"The number of cards that are not archived, neither themselves nor with their list." example:"17"`
	ArchivedAt  *Instant   `json:"archivedAt" format:"date-time" doc:"When it was archived; null if it is open." example:"2026-03-01T12:00:00.000Z"`
	TrashedAt   *Instant   `json:"trashedAt" format:"date-time" doc:"When it was moved to the trash, where it stays for 30 days; null if it is not in the trash." example:"2026-03-01T12:00:00.000Z"`
	CreatedBy   *string    `json:"createdBy" doc:"The person who created it; null if it was not created by a person." example:"usr_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	CreatedAt   Instant    `json:"createdAt" format:"date-time" doc:"When it was created." example:"2026-01-05T09:00:00.000Z"`
	UpdatedAt   Instant    `json:"updatedAt" format:"date-time" doc:"When anything on the board last changed." example:"2026-02-01T10:00:00.000Z"`
	URL         string     `json:"url" format:"uri" doc:"The URL of the board in the application." example:"https://cardwall.example.com/boards/brd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
}

// BoardLimits holds each cap of a board with its usage.
type BoardLimits struct {
	OpenCards         Usage `json:"openCards" doc:"Open cards on the board."`
	AllCards          Usage `json:"allCards" doc:"All cards on the board, including archived ones."`
	OpenLists         Usage `json:"openLists" doc:"Open lists on the board."`
	Labels            Usage `json:"labels" doc:"Labels of the board."`
	Members           Usage `json:"members" doc:"People the board was shared with."`
	Webhooks          Usage `json:"webhooks" doc:"Webhooks of the board."`
	ChecklistsPerCard int   `json:"checklistsPerCard" doc:"The most checklists a card can have." example:"100"`
	ItemsPerChecklist int   `json:"itemsPerChecklist" doc:"The most items a checklist can have." example:"200"`
	AssigneesPerCard  int   `json:"assigneesPerCard" doc:"The most people a card can be assigned to." example:"50"`
	TitleLength       int   `json:"titleLength" doc:"The most characters of a title or name." example:"512"`
	TextLength        int   `json:"textLength" doc:"The most characters of a description or comment." example:"16384"`
}

// BoardDetail is a board with everything a client needs before it reads cards.
type BoardDetail struct {
	Board
	Lists  []List      `json:"lists" doc:"The open lists, in their order."`
	Labels []Label     `json:"labels" doc:"The labels, by name."`
	Limits BoardLimits `json:"limits" doc:"The caps of the board and how much of each is used."`
}

// BoardMember is a person who can see a board, through a role on the board or
// through the workspace.
type BoardMember struct {
	ID    string `json:"id" doc:"The user's id." example:"usr_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Name  string `json:"name" doc:"The display name." example:"Ada Lovelace"`
	Role  Role   `json:"role" enum:"admin,editor,commenter,viewer" doc:"The person's effective role on the board, including the one from the workspace." example:"editor"`
	Given *Role  `json:"given" enum:"admin,editor,commenter,viewer" doc:"The role given on the board itself; null if the person only has a role through the workspace." example:"editor"`
}

// List is a column of a board.
type List struct {
	ID         string   `json:"id" doc:"The list's id." example:"lst_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	BoardID    string   `json:"boardId" doc:"The board it is on." example:"brd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Name       string   `json:"name" doc:"Its name." example:"In progress"`
	OpenCards  int      `json:"openCards" doc:"The number of open cards; 0 if the list is archived." example:"3"`
	WIPLimit   *int     `json:"wipLimit" doc:"The WIP limit: the most open cards that the list should hold. null for no limit." example:"5"`
	WIPMode    WIPMode  `json:"wipMode" enum:"soft,hard" doc:"What happens at the WIP limit: soft shows a warning, hard refuses further cards with capacity_full." example:"soft"`
	ArchivedAt *Instant `json:"archivedAt" format:"date-time" doc:"When it was archived; null if it is open." example:"2026-03-01T12:00:00.000Z"`
	CreatedAt  Instant  `json:"createdAt" format:"date-time" doc:"When it was created." example:"2026-01-05T09:00:00.000Z"`
	UpdatedAt  Instant  `json:"updatedAt" format:"date-time" doc:"When it last changed." example:"2026-02-01T10:00:00.000Z"`

	Rank string `json:"-"` // internal; never in a response
}

// Label is a name with a color that marks cards of one board.
type Label struct {
	ID        string  `json:"id" doc:"The label's id." example:"lbl_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	BoardID   string  `json:"boardId" doc:"The board it belongs to." example:"brd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Name      string  `json:"name" doc:"Its name; may be empty for a label with only a color." example:"Bug"`
	Color     Color   `json:"color" enum:"gray,red,orange,yellow,lime,green,teal,sky,blue,purple,pink,brown" doc:"Its color." example:"red"`
	CreatedAt Instant `json:"createdAt" format:"date-time" doc:"When it was created." example:"2026-01-05T09:00:00.000Z"`
	UpdatedAt Instant `json:"updatedAt" format:"date-time" doc:"When it last changed." example:"2026-02-01T10:00:00.000Z"`
}

// Color is a color of the palette. The application draws each in a light and a
// dark variant.
type Color string

// Colors is the palette of labels.
var Colors = [...]Color{"gray", "red", "orange", "yellow", "lime", "green", "teal", "sky", "blue", "purple", "pink", "brown"}

// LabelRef is a label as it appears on a card.
type LabelRef struct {
	ID    string `json:"id" doc:"The label's id." example:"lbl_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Name  string `json:"name" doc:"Its name." example:"Bug"`
	Color Color  `json:"color" enum:"gray,red,orange,yellow,lime,green,teal,sky,blue,purple,pink,brown" doc:"Its color." example:"red"`
}

// Compare orders labels by name, then by id.
func (l LabelRef) Compare(o LabelRef) int {
	return cmp.Or(cmp.Compare(l.Name, o.Name), cmp.Compare(l.ID, o.ID))
}
