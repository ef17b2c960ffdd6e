package app

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// A list that does not exceed these sizes moves to another board in one transaction.
const (
	smallMove      = 200       // cards, including archived ones
	smallMoveBytes = 768 << 10 // storage of the cards and everything on them
)

// Maximum numbers of cards that a job moves in one transaction.
const (
	cardsLeaving  = 100
	cardsEntering = 50 // fewer, because labels, assignees and the search index also change
)

// MovedList is a list on its new board, with the labels and assignees that were
// dropped from its cards.
type MovedList struct {
	List             board.List       `json:"list" doc:"The list on the target board."`
	DroppedLabels    []board.LabelRef `json:"droppedLabels" doc:"The labels that cards lost because the target board has none with the same name and color."`
	DroppedAssignees []board.UserRef  `json:"droppedAssignees" doc:"The people who were unassigned from cards because they cannot see the target board."`
}

// MoveListToBoardInput is the input of MoveListToBoard.
type MoveListToBoardInput struct {
	ListInput
	BoardID  string         `json:"boardId" maxLength:"64" doc:"The id of the target board." example:"brd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Position board.Position `json:"position,omitzero" doc:"The position on the board. Defaults to the bottom, which is the right end."`
}

// MoveListToBoard moves a list with all its cards, including archived ones, to
// a position on another board. Each card changes as in MoveCardToBoard. The
// list's own WIP limit does not prevent the move. If the list is large,
// MoveListToBoard creates a job that moves it, and returns the job.
func MoveListToBoard(ctx context.Context, tx *store.Tx, in MoveListToBoardInput) (MovedList, *board.Job, error) {
	list, large, err := listToMove(ctx, tx, in)
	if err != nil {
		return MovedList{}, nil, err
	}
	if large {
		w, err := tx.Workspace(ctx, tx.On(in.BoardID).WorkspaceID, board.ViewWorkspace)
		if err != nil {
			return MovedList{}, nil, err
		}
		job, err := tx.InsertJob(ctx, store.NewJob{Kind: board.JobMoveList, Workspace: w, Name: list.Name, Input: in})
		return MovedList{}, &job, err
	}
	from := list.BoardID
	ids, err := tx.CardIDs(ctx, list.ID)
	if err != nil {
		return MovedList{}, nil, err
	}
	after, err := tx.MoveListToBoard(ctx, &list, in.BoardID, in.Position)
	if err != nil {
		return MovedList{}, nil, err
	}
	cards, err := tx.MoveCardsToBoard(ctx, from, ids, list)
	if err != nil {
		return MovedList{}, nil, err
	}
	d, err := refitMoved(ctx, tx, cards, in.BoardID)
	if err != nil {
		return MovedList{}, nil, err
	}
	emitLeft(tx, from, in.BoardID, list.ID, ids)
	emitListMoved(tx, from, list, after)
	emitEntered(tx, from, list, cards, "")
	return MovedList{List: list, DroppedLabels: d.labels, DroppedAssignees: d.people}, nil, nil
}

// listToMove locks both boards and returns the list. It reports whether the list is so large
// that a job must move it. It returns an error if the caller may not move the list or the target
// board has no room.
func listToMove(ctx context.Context, tx *store.Tx, in MoveListToBoardInput) (list board.List, large bool, err error) {
	if err := tx.LockBoardsOf(ctx, in.ListID, in.BoardID); err != nil {
		return list, false, err
	}
	if list, err = tx.List(ctx, in.ListID, board.Edit); err != nil {
		return list, false, err
	}
	if _, err := tx.Board(ctx, in.BoardID, board.Edit); err != nil {
		return list, false, err
	}
	if list.BoardID == in.BoardID {
		return list, false, board.Invalid("boardId must be another board. Use move_list to move a list on its "+
			"own board.").In("boardId", board.RuleValue)
	}
	if err := mayMove(ctx, tx.View, list.BoardID, in.BoardID, "boardId"); err != nil {
		return list, false, err
	}
	cards, err := tx.CountCards(ctx, list.ID)
	if err != nil {
		return list, false, err
	}
	if err := roomForList(tx.View, in.BoardID, list.OpenCards, cards); err != nil || cards > smallMove {
		return list, true, err
	}
	bytes, err := tx.ListBytes(ctx, list.ID)
	return list, bytes > smallMoveBytes, err
}

// refitMoved applies refit to cards that have moved to a board, and stores the changes.
func refitMoved(ctx context.Context, tx *store.Tx, cards []store.WholeCard, boardID string) (d dropped, err error) {
	if d, err = refit(ctx, tx, cards, boardID); err != nil {
		return d, err
	}
	if err := unassign(ctx, tx, cards, d.people); err != nil {
		return d, err
	}
	return d, tx.ReplaceLabels(ctx, cards)
}

// emitLeft emits an event for each card of a list that has left its board.
func emitLeft(tx *store.Tx, from, to, listID string, cardIDs []string) {
	for _, id := range cardIDs {
		tx.Emit(from, board.CardMovedAway(id, listID, idForEvent(tx, to)))
	}
}

// emitListMoved emits the events for a list that has moved from another board. after is the id
// of the list that precedes it on its new board.
func emitListMoved(tx *store.Tx, from string, l board.List, after string) {
	tx.Emit(from, board.ListMovedAway(l.ID, idForEvent(tx, l.BoardID)))
	tx.Emit(l.BoardID, board.ListMovedIn(l, after, idForEvent(tx, from)))
}

// emitEntered emits an event for each card that has entered a list from another board. after
// is the id of the card above the first one.
func emitEntered(tx *store.Tx, from string, l board.List, cards []store.WholeCard, after string) {
	for _, c := range cards {
		tx.Emit(l.BoardID, board.CardMovedIn(c.CardDetail, after, idForEvent(tx, from)))
		if c.ArchivedAt == nil {
			after = c.ID
		}
	}
}

// movedListOfJob returns the list that a finished job has moved.
func movedListOfJob(ctx context.Context, v *store.View, j board.Job) (MovedList, error) {
	list, err := listOfJob(ctx, v, j)
	return MovedList{List: list, DroppedLabels: j.DroppedLabels, DroppedAssignees: j.DroppedAssignees}, err
}

// CheckListMove returns an error if the organization of the target board has too little
// storage left for the list that a job moves. It runs before the transactions of the move,
// because adding up the storage of many cards would block other writers.
func CheckListMove(ctx context.Context, v *store.View, j *store.RunningJob) error {
	in, err := listMoveOf(j)
	if err != nil {
		return err
	}
	list, err := v.List(ctx, in.ListID, board.Edit)
	if err != nil {
		return err
	}
	if err := v.CheckBoard(ctx, in.BoardID, board.Edit); err != nil {
		return err
	}
	target := v.On(in.BoardID).OrganizationID
	if v.On(list.BoardID).OrganizationID == target {
		return nil
	}
	bytes, err := v.ListBytes(ctx, list.ID)
	if err != nil {
		return err
	}
	return v.CheckStorage(ctx, target, bytes)
}

// StartListMove starts the move of a job's list. It checks again that the caller may move the list
// and that the target board has room.
func StartListMove(ctx context.Context, tx *store.Tx, j *store.RunningJob) error {
	in, err := listMoveOf(j)
	if err != nil {
		return err
	}
	list, _, err := listToMove(ctx, tx, in)
	if err != nil {
		return err
	}
	if err := tx.StartListMove(ctx, j.ID, list, in.BoardID); err != nil {
		return err
	}
	return tx.Audit(ctx, string(j.Kind), list.ID)
}

// ContinueListMove performs the next step of a job that moves a list: it moves some of the
// cards, or the list itself. It returns true when the list and all its cards are on the target
// board. Until then, the caller must call it again, each time in a new transaction. The
// transaction must run as the system on behalf of the job's caller.
func ContinueListMove(ctx context.Context, tx *store.Tx, j *store.RunningJob) (done bool, err error) {
	in, err := listMoveOf(j)
	if err != nil {
		return false, err
	}
	m, err := tx.ListMove(ctx, j.ID)
	if err != nil {
		return false, err
	}
	if !m.Arrived() {
		ids, err := tx.DetachCards(ctx, m, cardsLeaving)
		if err != nil || len(ids) > 0 {
			emitLeft(tx, m.From, m.To, m.List.ID, ids)
			return false, err
		}
		after, err := moveEmptyList(ctx, tx, &m.List, in)
		if err != nil {
			return false, err
		}
		emitListMoved(tx, m.From, m.List, after)
		return false, nil
	}
	cards, after, err := tx.AttachCards(ctx, m, cardsEntering)
	if err != nil {
		return false, err
	}
	if len(cards) == 0 {
		return true, tx.EndListMove(ctx, m)
	}
	d, err := refitMoved(ctx, tx, cards, m.To)
	if err != nil {
		return false, err
	}
	emitEntered(tx, m.From, m.List, cards, after)
	return false, tx.AddDropped(ctx, j.ID, d.labels, d.people)
}

// moveEmptyList moves a list that no longer contains cards to the requested position on the
// target board, or to the bottom if that position no longer exists.
func moveEmptyList(ctx context.Context, tx *store.Tx, l *board.List, in MoveListToBoardInput) (after string, err error) {
	after, err = tx.MoveListToBoard(ctx, l, in.BoardID, in.Position)
	if board.IsCode(err, board.CodeInvalidRequest) {
		return tx.MoveListToBoard(ctx, l, in.BoardID, board.Position{})
	}
	return after, err
}

// listMoveOf decodes the input of a job that moves a list.
func listMoveOf(j *store.RunningJob) (in MoveListToBoardInput, err error) {
	if err := json.Unmarshal(j.Input, &in); err != nil {
		return in, fmt.Errorf("decode the input of %s: %w", j.ID, err)
	}
	return in, nil
}
