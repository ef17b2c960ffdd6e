package digest

import "cardwall/internal/board"

// Digest says what happened on boards in a period. It is part of the result of both operations.
type Digest struct {
	Since      board.Instant `json:"since" format:"date-time" doc:"The beginning of the period." example:"2026-03-02T09:00:00.000Z"`
	Until      board.Instant `json:"until" format:"date-time" doc:"The end of the period." example:"2026-03-09T09:00:00.000Z"`
	Changes    int           `json:"changes" doc:"The number of changes in the period." example:"42"`
	People     []DigestActor `json:"people" doc:"Who made the changes, with the most active first."`
	MorePeople int           `json:"morePeople" doc:"The number of others who made changes." example:"3"`
	Shortened  *string       `json:"shortened" doc:"What is left out, and how to read it; null if nothing is." example:"Left out for space. Next: a shorter period."`
}

// BoardDigest is the result of get_board_digest.
type BoardDigest struct {
	BoardID   string `json:"boardId" doc:"The id of the board." example:"brd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	BoardName string `json:"boardName" doc:"The name of the board." example:"Launch"`
	Digest
	Extent
	Groups []DigestGroup `json:"groups" doc:"The changes in groups. Groups without changes are left out."`
}

// WorkspaceDigest is the result of get_workspace_digest.
type WorkspaceDigest struct {
	WorkspaceID string `json:"workspaceId" doc:"The id of the workspace." example:"wsp_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Digest
	Boards      []DigestBoard  `json:"boards" doc:"The boards that changed most, with the most active first."`
	OtherBoards []BoardChanges `json:"otherBoards" doc:"Other boards that changed, without groups."`
	MoreBoards  int            `json:"moreBoards" doc:"The number of boards that changed and are in neither list." example:"7"`
}

// DigestBoard is a board in the digest of a workspace.
type DigestBoard struct {
	BoardChanges
	Extent
	Groups []DigestGroup `json:"groups" doc:"The changes in groups. Groups without changes are left out."`
}

// BoardChanges is a board with the number of its changes.
type BoardChanges struct {
	BoardID   string `json:"boardId" doc:"The id of the board." example:"brd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	BoardName string `json:"boardName" doc:"The name of the board. A shortened name ends with an ellipsis." example:"Launch"`
	Changes   int    `json:"changes" doc:"The number of changes in the period." example:"42"`
}

// Extent says which changes of the period the groups contain.
type Extent struct {
	GroupedChanges int  `json:"groupedChanges" doc:"The number of changes, the newest, that people and groups are made from. It is less than changes if a digest would have to read more than 20,000." example:"20000"`
	Incomplete     bool `json:"incomplete" doc:"Whether some changes of the period may be missing, because they are no longer kept or not recorded yet." example:"false"`
}

// DigestActor is an actor with the number of its changes. The same person has an entry for each
// connected app.
type DigestActor struct {
	Name    string           `json:"name" doc:"The name by which the items refer to the actor, with the connected app." example:"Ada Lovelace via Claude"`
	Actor   board.EntryActor `json:"actor" doc:"The actor."`
	Changes int              `json:"changes" doc:"The number of changes." example:"12"`
}

// DigestGroup is a kind of change with the cards or other records that changed.
type DigestGroup struct {
	Group groupName    `json:"group" enum:"created,completed,reopened,moved,archived,restored,dueDates,comments,cards,lists,members,other" doc:"The kind of change. A card that was completed and reopened, or archived and restored, is in the group of the last of these changes. cards are other changes to cards." example:"moved"`
	Total int          `json:"total" doc:"The number of items, including those left out." example:"15"`
	More  int          `json:"more" doc:"The number of items left out." example:"3"`
	Items []DigestItem `json:"items" doc:"The changed cards or, in the last three groups, other records; the most recently changed first."`
}

// DigestItem is a card, or another record, with its changes in a group. Unlike other records, it omits
// fields without a value, so that more items fit.
type DigestItem struct {
	ID        string       `json:"id,omitzero" doc:"The id of the card, list or person; absent in the group other." example:"crd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Number    int          `json:"number,omitzero" doc:"The number of the card; absent if the card is no longer on the board." example:"12"`
	Title     string       `json:"title,omitzero" doc:"The present title or name; absent if there is none, or the card or list is no longer on the board." example:"Write the press release"`
	List      string       `json:"list,omitzero" doc:"The name of the list that the card is in now; absent in the group moved." example:"Doing"`
	From      string       `json:"from,omitzero" doc:"The first former list of a moved card, or due date; absent if there was none on this board." example:"To do"`
	To        string       `json:"to,omitzero" doc:"The last new list of a moved card, or due date; absent if there is none on this board. If it equals from, the card was moved back." example:"Done"`
	Text      string       `json:"text,omitzero" doc:"The beginning of the newest comment." example:"The printer wants it by Friday."`
	Types     []board.Kind `json:"types,omitempty" doc:"The kinds of change, in the last four groups, the newest first." example:"[\"card.labels_changed\"]"`
	MoreTypes int          `json:"moreTypes,omitzero" doc:"The number of other kinds of change; absent if there are none." example:"2"`
	Changes   int          `json:"changes,omitzero" doc:"The number of changes; absent if there was one." example:"3"`
	By        []string     `json:"by" doc:"Who made the changes; names of people." example:"[\"Ada Lovelace via Claude\"]"`
	MoreBy    int          `json:"moreBy,omitzero" doc:"The number of others who made changes; absent if there are none." example:"2"`
	Partial   bool         `json:"partial,omitzero" doc:"Whether a text of the item is shortened, which then ends with an ellipsis; absent if not." example:"true"`
}

// groupName identifies a group of changes.
type groupName string

const (
	created   groupName = "created"
	completed groupName = "completed"
	reopened  groupName = "reopened"
	moved     groupName = "moved"
	archived  groupName = "archived"
	restored  groupName = "restored"
	dueDates  groupName = "dueDates"
	comments  groupName = "comments"
	cards     groupName = "cards"
	lists     groupName = "lists"
	members   groupName = "members"
	other     groupName = "other"
)

// groupNames are all groups, in the order of a digest.
var groupNames = []groupName{
	completed, created, moved, comments, dueDates, reopened, archived, restored, cards, lists, members, other,
}
