package app

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"

	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/store"
)

// Home lists the caller's workspaces with their boards.
type Home struct {
	Workspaces []HomeWorkspace          `json:"workspaces" doc:"The caller's workspaces, oldest first."`
	Trashed    []board.TrashedWorkspace `json:"trashed" doc:"The workspaces in the trash that the caller can restore, oldest first."`
	Owned      board.Usage              `json:"owned" doc:"The number of workspaces that the caller owns, and the limit."`
}

// HomeWorkspace is a workspace with the boards that the caller can see.
type HomeWorkspace struct {
	board.Workspace
	Boards []HomeBoard `json:"boards" doc:"The boards of the workspace that the caller can see, including archived ones, oldest first."`
}

// HomeBoard is a board in a HomeWorkspace.
type HomeBoard struct {
	board.Board
	Starred    bool           `json:"starred" doc:"Whether the board is one of the caller's favorites." example:"true"`
	LastSeenAt *board.Instant `json:"lastSeenAt" format:"date-time" doc:"When the caller last opened the board; null if the caller never has." example:"2026-03-02T09:00:00.000Z"`
	Room       board.Usage    `json:"room" doc:"The number of cards on the board that are not archived, including done ones, and the limit."`
}

// maxHome is the maximum number of workspaces, and of boards in total, that
// GetHome returns. ListWorkspaces and ListBoards return all of them, page by page.
const maxHome = 1000

// maxCollapsed is the maximum number of lists of a board, including archived
// ones, that are compared with the ids in an input.
const maxCollapsed = 2000

// GetHome returns the caller's workspaces with their boards.
func GetHome(ctx context.Context, v *store.View, _ Nothing) (Home, error) {
	spaces, err := v.Workspaces(ctx, "", maxHome)
	if err != nil {
		return Home{}, err
	}
	boards, err := v.Boards(ctx, "", true, "", maxHome)
	if err != nil {
		return Home{}, err
	}
	visits, err := v.Visits(ctx)
	if err != nil {
		return Home{}, err
	}
	home := Home{Workspaces: make([]HomeWorkspace, len(spaces))}
	owned, err := v.CountOwnedWorkspaces(ctx)
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

// Star holds whether a board is a favorite of the caller.
type Star struct {
	BoardID string `json:"boardId" doc:"The id of the board." example:"brd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Starred bool   `json:"starred" doc:"Whether the board is one of the caller's favorites." example:"true"`
}

// StarBoard adds a board to the caller's favorites.
func StarBoard(ctx context.Context, tx *store.Tx, in BoardInput) (Star, error) {
	return star(ctx, tx, in, true)
}

// UnstarBoard removes a board from the caller's favorites.
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

// SetCollapsedListsInput is the input of SetCollapsedLists.
type SetCollapsedListsInput struct {
	BoardInput
	ListIDs []string `json:"listIds" maxItems:"500" doc:"The ids of all lists of the board that are collapsed for the caller. Ids that do not belong to the board are ignored." example:"[\"lst_01jb2m3n4p5q6r7s8t9v0w1x2y\"]"`
}

// CollapsedLists holds the lists of a board that a person has collapsed.
type CollapsedLists struct {
	BoardID string   `json:"boardId" doc:"The id of the board." example:"brd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	ListIDs []string `json:"listIds" doc:"The ids of the lists that are collapsed for the caller." example:"[\"lst_01jb2m3n4p5q6r7s8t9v0w1x2y\"]"`
}

// SetCollapsedLists stores which lists of a board are collapsed for the caller. The
// setting applies to every browser. SetCollapsedLists ignores ids that do not belong
// to the board.
func SetCollapsedLists(ctx context.Context, tx *store.Tx, in SetCollapsedListsInput) (CollapsedLists, error) {
	b, err := tx.View.Board(ctx, in.BoardID, board.View)
	if err != nil {
		return CollapsedLists{}, err
	}
	lists, err := tx.Lists(ctx, b.ID, true, "", maxCollapsed)
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
	PurgedAt board.Instant `json:"purgedAt" format:"date-time" doc:"When the board will be deleted permanently." example:"2026-04-01T09:00:00.000Z"`
}

// ListTrashedBoardsInput is the input of ListTrashedBoards.
type ListTrashedBoardsInput struct {
	WorkspaceInput
	op.Paging
}

// ListTrashedBoards returns the boards in a workspace's trash that the caller
// may restore, oldest first.
func ListTrashedBoards(ctx context.Context, v *store.View, in ListTrashedBoardsInput) (op.Page[TrashedBoard], error) {
	var after string
	if err := in.After(&after); err != nil {
		return op.Page[TrashedBoard]{}, err
	}
	w, err := v.Workspace(ctx, in.WorkspaceID, board.ViewWorkspace)
	if err != nil {
		return op.Page[TrashedBoard]{}, err
	}
	boards, err := v.TrashedBoards(ctx, w.ID, after, in.Size()+1)
	out := make([]TrashedBoard, len(boards))
	for i, b := range boards {
		out[i] = TrashedBoard{b, *b.TrashedAt + board.Instant(store.TrashLifetime.Milliseconds())}
	}
	return op.Cut(out, in.Size(), func(b TrashedBoard) any { return b.ID }), err
}

// OpenBoard holds everything a client needs to show a board.
type OpenBoard struct {
	board.BoardDetail
	Cards op.Written[[]board.Card] `json:"cards" doc:"The cards in the open lists that are not archived, without their descriptions, in the order of the lists."`
	OpenedBy
}

// OpenedBy is the part of an opened board that depends on the caller.
type OpenedBy struct {
	Members []board.BoardMember `json:"members" doc:"The first 500 people who can see the board."`
	Starred bool                `json:"starred" doc:"Whether the board is one of the caller's favorites." example:"true"`
	Watched bool                `json:"watched" doc:"Whether the caller watches the board." example:"true"`

	CollapsedLists []string `json:"collapsedLists" doc:"The ids of the lists that are collapsed for the caller."`
}

// AppendJSON appends the board as the generic encoder would.
func (o OpenBoard) AppendJSON(b []byte) ([]byte, error) {
	detail, err := json.Marshal(o.BoardDetail)
	if err != nil {
		return nil, fmt.Errorf("encode board: %w", err)
	}
	by, err := json.Marshal(o.OpenedBy)
	if err != nil {
		return nil, fmt.Errorf("encode the caller's part of the board: %w", err)
	}
	b = append(b, detail[:len(detail)-1]...) // joins the parts into one object
	b = o.Cards.Append(append(b, `,"cards":`...))
	return append(append(b, ','), by[1:]...), nil
}

// ReadOpenBoard returns a board with its lists, labels, cards and members, all
// at the same boardVersion.
func ReadOpenBoard(ctx context.Context, v *store.View, in BoardInput) (OpenBoard, error) {
	b, err := v.Board(ctx, in.BoardID, board.View)
	if err != nil {
		return OpenBoard{}, err
	}
	var o OpenBoard
	if o.BoardDetail, err = boardDetail(ctx, v, b); err != nil {
		return o, err
	}
	cards, err := v.Cached(b.ID, openCardsPart, func() ([]byte, error) { return openCards(ctx, v, o.BoardDetail) })
	if err != nil {
		return o, err
	}
	o.Cards = op.WrittenAs[[]board.Card](cards)
	if o.Members, err = v.BoardMembers(ctx, b.ID, "", v.Limits().BoardMembers); err != nil {
		return o, err
	}
	visit, err := v.Visit(ctx, b.ID)
	o.Starred, o.Watched, o.CollapsedLists = visit.Starred, visit.Watching, visit.Collapsed
	return o, err
}

// openCardsPart identifies the result of openCards among the parts of a board that are
// kept in memory.
var openCardsPart = sha256.Sum256([]byte("open cards"))

// openCards returns the open cards of the open lists of a board, encoded as a JSON array.
func openCards(ctx context.Context, v *store.View, b board.BoardDetail) ([]byte, error) {
	cards, _, err := v.Cards(ctx, store.CardPage{BoardID: b.ID, Compact: true, Limit: v.Limits().AllCards})
	if err != nil {
		return nil, err
	}
	open := map[string]bool{}
	for _, l := range b.Lists {
		open[l.ID] = true
	}
	all := make([]op.Written[board.Card], 0, len(cards))
	writer := op.Writer[board.Card]{Append: appendCard}
	for i := range cards {
		if !open[cards[i].ListID] {
			continue
		}
		written, err := writer.Write(&cards[i])
		if err != nil {
			return nil, err
		}
		all = append(all, written)
	}
	return op.AppendArray(nil, all), nil
}
