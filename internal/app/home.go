package app

import (
	"context"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"

	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/store"
)

// Home is where a person begins: the workspaces with their boards.
type Home struct {
	Workspaces []HomeWorkspace          `json:"workspaces" doc:"The caller's workspaces, oldest first."`
	Trashed    []board.TrashedWorkspace `json:"trashed" doc:"The workspaces in the trash that the caller may restore, oldest first."`
	Owned      board.Usage              `json:"owned" doc:"The number of workspaces that the caller owns, and the limit."`
}

// HomeWorkspace is a workspace with the boards that the caller sees.
type HomeWorkspace struct {
	board.Workspace
	Boards []HomeBoard `json:"boards" doc:"Its boards, including archived ones, oldest first."`
}

// HomeBoard is a board with what it is to the caller.
type HomeBoard struct {
	board.Board
	Starred    bool           `json:"starred" doc:"Whether the board is a favourite of the caller." example:"true"`
	LastSeenAt *board.Instant `json:"lastSeenAt" format:"date-time" doc:"When the caller last opened the board; null for never." example:"2026-03-02T09:00:00.000Z"`
	Room       board.Usage    `json:"room" doc:"The number of open cards, and the limit."`
}

// homeMost is how many workspaces, and how many boards of all of them, a home
// shows at most; the lists of each page through all.
const homeMost = 1000

// collapsedMost is how many lists of a board, archived ones too, are looked
// through for those that a person has collapsed.
const collapsedMost = 2000

// GetHome answers the caller's workspaces with their boards.
func GetHome(ctx context.Context, v *store.View, _ Nothing) (Home, error) {
	spaces, err := v.Workspaces(ctx, "", homeMost)
	if err != nil {
		return Home{}, err
	}
	boards, err := v.Boards(ctx, "", true, "", homeMost)
	if err != nil {
		return Home{}, err
	}
	visits, err := v.Visits(ctx)
	if err != nil {
		return Home{}, err
	}
	home := Home{Workspaces: make([]HomeWorkspace, len(spaces))}
	owned, err := v.CountOwned(ctx)
	if err != nil {
		return Home{}, err
	}
	home.Owned = board.UsageOf(owned, maxOwned)
	if home.Trashed, err = v.TrashedWorkspaces(ctx); err != nil {
		return Home{}, err
	}
	at := make(map[string]int, len(spaces))
	for i, w := range spaces {
		home.Workspaces[i] = HomeWorkspace{Workspace: w, Boards: []HomeBoard{}}
		at[w.ID] = i
	}
	for _, b := range boards {
		if i, ok := at[b.WorkspaceID]; ok {
			w := &home.Workspaces[i]
			w.Boards = append(w.Boards, HomeBoard{
				Board: b, Starred: visits[b.ID].Starred, LastSeenAt: visits[b.ID].SeenAt, Room: board.UsageOf(b.OpenCards, v.Limits().OpenCards),
			})
		}
	}
	return home, nil
}

// Star says whether a board is a favourite.
type Star struct {
	BoardID string `json:"boardId" doc:"The board." example:"brd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Starred bool   `json:"starred" doc:"Whether the board is a favourite of the caller." example:"true"`
}

// StarBoard makes a board a favourite of the caller.
func StarBoard(ctx context.Context, tx *store.Tx, in BoardInput) (Star, error) {
	return star(ctx, tx, in, true)
}

// UnstarBoard makes it none any more.
func UnstarBoard(ctx context.Context, tx *store.Tx, in BoardInput) (Star, error) {
	return star(ctx, tx, in, false)
}

func star(ctx context.Context, tx *store.Tx, in BoardInput, starred bool) (Star, error) {
	b, err := tx.View.Board(ctx, in.BoardID, board.View)
	if err != nil {
		return Star{}, err
	}
	return Star{b.ID, starred}, tx.SetStarred(ctx, b.ID, starred)
}

// SetCollapsedListsInput says which lists.
type SetCollapsedListsInput struct {
	BoardInput
	ListIDs []string `json:"listIds" maxItems:"500" doc:"All lists of the board that are collapsed." example:"[\"lst_01jb2m3n4p5q6r7s8t9v0w1x2y\"]"`
}

// CollapsedLists are the lists of a board that a person has collapsed.
type CollapsedLists struct {
	BoardID string   `json:"boardId" doc:"The board." example:"brd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	ListIDs []string `json:"listIds" doc:"The lists that the caller has collapsed." example:"[\"lst_01jb2m3n4p5q6r7s8t9v0w1x2y\"]"`
}

// SetCollapsedLists notes which lists of a board the caller has collapsed, so
// that they are so in every browser of the caller's, and in nobody else's.
func SetCollapsedLists(ctx context.Context, tx *store.Tx, in SetCollapsedListsInput) (CollapsedLists, error) {
	b, err := tx.View.Board(ctx, in.BoardID, board.View)
	if err != nil {
		return CollapsedLists{}, err
	}
	lists, err := tx.Lists(ctx, b.ID, true, "", collapsedMost)
	if err != nil {
		return CollapsedLists{}, err
	}
	out := CollapsedLists{b.ID, []string{}}
	for _, l := range lists {
		if slices.Contains(in.ListIDs, l.ID) {
			out.ListIDs = append(out.ListIDs, l.ID)
		}
	}
	return out, tx.SetCollapsed(ctx, b.ID, out.ListIDs)
}

// TrashedBoard is a board in the trash.
type TrashedBoard struct {
	board.Board
	PurgedAt board.Instant `json:"purgedAt" format:"date-time" doc:"When it will be deleted permanently." example:"2026-04-01T09:00:00.000Z"`
}

// ListTrashedBoardsInput says of which workspace.
type ListTrashedBoardsInput struct {
	WorkspaceInput
	op.Paging
}

// ListTrashedBoards lists the boards in a workspace's trash that the caller may
// restore, in the order of their making.
func ListTrashedBoards(ctx context.Context, v *store.View, in ListTrashedBoardsInput) (op.Page[TrashedBoard], error) {
	var behind string
	if err := in.After(&behind); err != nil {
		return op.Page[TrashedBoard]{}, err
	}
	w, err := v.Workspace(ctx, in.WorkspaceID, board.ViewWorkspace)
	if err != nil {
		return op.Page[TrashedBoard]{}, err
	}
	boards, err := v.TrashedBoards(ctx, w.ID, behind, in.Size()+1)
	out := make([]TrashedBoard, len(boards))
	for i, b := range boards {
		out[i] = TrashedBoard{b, *b.TrashedAt + board.Instant(store.TrashLifetime.Milliseconds())}
	}
	return op.Cut(out, in.Size(), func(b TrashedBoard) any { return b.ID }), err
}

// OpenBoard is all that a client needs to show a board.
type OpenBoard struct {
	board.BoardDetail
	Cards []op.Written[board.Card] `json:"cards" doc:"The open cards of the open lists without descriptions, in the order of the lists."`
	OpenedBy
}

// OpenedBy is what of an opened board depends on who opens it.
type OpenedBy struct {
	Members []board.BoardMember `json:"members" doc:"The first 500 people who can see the board."`
	Starred bool                `json:"starred" doc:"Whether the board is a favourite of the caller." example:"true"`
	Watched bool                `json:"watched" doc:"Whether the caller watches the board." example:"true"`

	CollapsedLists []string `json:"collapsedLists" doc:"The lists that the caller has collapsed."`
}

// AppendJSON appends the board as its fields say.
func (o OpenBoard) AppendJSON(b []byte) ([]byte, error) {
	detail, err := json.Marshal(o.BoardDetail)
	if err != nil {
		return nil, fmt.Errorf("write the board: %w", err)
	}
	by, err := json.Marshal(o.OpenedBy)
	if err != nil {
		return nil, fmt.Errorf("write who opened the board: %w", err)
	}
	b = append(b, detail[:len(detail)-1]...) // one object of all
	b = op.AppendArray(append(b, `,"cards":`...), o.Cards)
	return append(append(b, ','), by[1:]...), nil
}

// ReadOpenBoard answers a board with its lists, labels, cards and members, all
// of one version.
func ReadOpenBoard(ctx context.Context, v *store.View, in BoardInput) (OpenBoard, error) {
	b, err := v.Board(ctx, in.BoardID, board.View)
	if err != nil {
		return OpenBoard{}, err
	}
	var o OpenBoard
	if o.BoardDetail, err = boardDetail(ctx, v, b); err != nil {
		return o, err
	}
	cards, _, err := v.Cards(ctx, store.CardPage{BoardID: b.ID, Compact: true, Limit: v.Limits().AllCards})
	if err != nil {
		return o, err
	}
	open := map[string]bool{}
	for _, l := range o.Lists {
		open[l.ID] = true
	}
	o.Cards = make([]op.Written[board.Card], 0, len(cards))
	writer := op.Writer[board.Card]{Append: appendCard}
	for i := range cards {
		if !open[cards[i].ListID] {
			continue
		}
		written, err := writer.Write(&cards[i])
		if err != nil {
			return o, err
		}
		o.Cards = append(o.Cards, written)
	}
	if o.Members, err = v.BoardMembers(ctx, b.ID, "", v.Limits().BoardMembers); err != nil {
		return o, err
	}
	visit, err := v.Visit(ctx, b.ID)
	o.Starred, o.Watched, o.CollapsedLists = visit.Starred, visit.Watching, visit.Collapsed
	return o, err
}
