package app

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// A list that does not exceed these sizes is copied in one transaction.
const (
	smallList      = 400       // open cards
	smallListBytes = 768 << 10 // storage of the cards and everything on them
)

// cardsInPart is the maximum number of cards that a job copies in one transaction.
const cardsInPart = 100

// isLargeList reports whether a list is so large that a job must copy it.
func isLargeList(ctx context.Context, v *store.View, l board.List) (bool, error) {
	if l.OpenCards > smallList {
		return true, nil
	}
	n, err := v.OpenListBytes(ctx, l.ID)
	return n > smallListBytes, err
}

// listCopy is the input of a job that copies a list.
type listCopy struct {
	ListID string `json:"listId"`
	CopyID string `json:"copyId"`
}

// startListCopy starts a job that copies a list. It reserves the position of the copy on
// the board. The copy is hidden until it is complete.
func startListCopy(ctx context.Context, tx *store.Tx, l board.List, at board.Position) (job board.Job, err error) {
	w, err := tx.Workspace(ctx, tx.On(l.BoardID).WorkspaceID, board.ViewWorkspace)
	if err != nil {
		return job, err
	}
	in := listCopy{ListID: l.ID, CopyID: tx.NewID("lst_")}
	if job, err = tx.InsertJob(ctx, store.NewJob{Kind: board.JobCopyList, Workspace: w, Name: l.Name, Input: in}); err != nil {
		return job, err
	}
	l.ID = in.CopyID
	return job, tx.InsertHiddenList(ctx, job.ID, &l, at)
}

// listOfJob returns the list that a finished job has created or moved.
func listOfJob(ctx context.Context, v *store.View, j board.Job) (board.List, error) {
	if j.ListID == nil {
		return board.List{}, board.NotFound()
	}
	return v.List(ctx, *j.ListID, board.View)
}

// DraftListJob calls part with successive parts of the list that a job copies. It checks the
// caller's permissions again. It returns an error after the last part if the organization has
// too little storage left.
func DraftListJob(ctx context.Context, v *store.View, j *store.RunningJob, part func(store.ListPart) error) error {
	var in listCopy
	if err := json.Unmarshal(j.Input, &in); err != nil {
		return fmt.Errorf("decode the input of %s: %w", j.ID, err)
	}
	list, err := v.List(ctx, in.ListID, board.Edit)
	if err != nil {
		return err
	}
	if list.ArchivedAt != nil {
		return board.Refuse(board.CodeArchived, "The list was archived before it was copied.")
	}
	if err := roomForList(v, list.BoardID, list.OpenCards, list.OpenCards); err != nil {
		return err
	}
	var (
		after, rank string
		start       int
		stored      board.Bytes
	)
	for {
		cards, err := v.OpenCardsAfter(ctx, list.ID, rank, cardsInPart)
		if err != nil {
			return err
		}
		if len(cards) == 0 {
			return v.CheckStorage(ctx, v.On(list.BoardID).OrganizationID, stored)
		}
		rank = cards[len(cards)-1].Rank
		p := store.ListPart{At: v.Now(), Start: start, After: after, Ranks: make([]string, len(cards)), Cards: cards}
		for i, c := range cards {
			p.Ranks[i] = c.Rank
		}
		makeNew(v, cards, in.CopyID, false)
		if err := part(p); err != nil {
			return err
		}
		after, start, stored = cards[len(cards)-1].ID, start+len(cards), stored+p.Bytes()
	}
}

// ShowListJob makes the list that a job has created visible and returns the list's id. It
// emits the event of the list and reserves board versions for the events of its cards. It
// returns an error if the job's caller may no longer edit the board, or if the board has
// no room.
func ShowListJob(ctx context.Context, tx *store.Tx, j *store.RunningJob) (listID string, err error) {
	boardID, cards, err := tx.JobListCards(ctx, j.ID)
	if err != nil {
		return "", err
	}
	if _, err := tx.Board(ctx, boardID, board.Edit); err != nil {
		return "", err
	}
	if err := roomForList(tx.View, boardID, cards, cards); err != nil {
		return "", err
	}
	l, after, err := tx.RevealJobList(ctx, j.ID)
	if err != nil {
		return "", err
	}
	tx.Emit(boardID, board.ListCreated(l, after))
	tx.ReserveVersions(boardID, cards)
	return l.ID, nil
}

// EventOfListJob returns the event for a card that a job has copied.
func EventOfListJob(c store.WholeCard, after string) board.Event {
	return board.CardCopied(c.CardDetail, after)
}
