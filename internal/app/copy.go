package app

import (
	"context"
	"errors"
	"slices"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// A copy of a card or a list is new work, so no card or checklist item in it is done. In a
// copy of a board, the cards and items that were done stay done.

// CopyCardInput is the input of CopyCard.
type CopyCardInput struct {
	CardInput
	ListID            string         `json:"listId,omitempty" maxLength:"64" doc:"The id of the list for the copy, on the same board or another one. Defaults to the card's list." example:"lst_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Title             *string        `json:"title,omitempty" maxLength:"512" doc:"The copy's title. Defaults to the card's title." example:"Write the press release for May"`
	Position          board.Position `json:"position,omitzero" doc:"The position in the list. Defaults to the bottom."`
	IncludeLabels     *bool          `json:"includeLabels,omitempty" doc:"Whether to copy the labels. On another board, the copy gets the labels with the same name and color. Defaults to true." example:"true"`
	IncludeAssignees  *bool          `json:"includeAssignees,omitempty" doc:"Whether to copy the assignees who can see the target board. Defaults to true." example:"false"`
	IncludeDue        *bool          `json:"includeDue,omitempty" doc:"Whether to copy the due date and the start date. Defaults to true." example:"false"`
	IncludeChecklists *bool          `json:"includeChecklists,omitempty" doc:"Whether to copy the checklists. No item of the copy is done. Defaults to true." example:"true"`
	IncludeComments   bool           `json:"includeComments,omitempty" doc:"Whether to copy the comments with their authors and times. Defaults to false." example:"false"`
}

// CopyCard copies a card. A copy on another board sends no events.
func CopyCard(ctx context.Context, tx *store.Tx, in CopyCardInput) (board.Card, error) {
	if in.ListID != "" {
		if err := tx.LockBoardsOf(ctx, in.CardID, in.ListID); err != nil {
			return board.Card{}, err
		}
	}
	card, err := tx.Card(ctx, in.CardID, board.View)
	if err != nil {
		return board.Card{}, err
	}
	if in.ListID == "" {
		in.ListID = card.ListID
	}
	list, err := tx.List(ctx, in.ListID, board.Edit)
	if err != nil {
		return board.Card{}, err
	}
	if in.Title != nil {
		if card.Title, err = title("title", *in.Title); err != nil {
			return board.Card{}, err
		}
	}
	if err := roomForCard(tx, list, 1); err != nil {
		return board.Card{}, err
	}
	whole, err := tx.WholeCard(ctx, card, in.IncludeComments)
	if err != nil {
		return board.Card{}, err
	}
	in.leaveOut(&whole)
	copies := []store.WholeCard{whole}
	if list.BoardID != card.BoardID {
		if err := mayMove(ctx, tx.View, card.BoardID, list.BoardID, "listId"); err != nil {
			return board.Card{}, err
		}
		tx.Quiet()
		if _, err := refit(ctx, tx, copies, list.BoardID); err != nil {
			return board.Card{}, err
		}
	}
	makeNew(tx.View, copies, list.ID, false)
	rank, after, err := tx.NewCardRank(ctx, list.ID, in.Position)
	if err != nil {
		return board.Card{}, err
	}
	copies[0].Rank = rank
	if err := tx.InsertCards(ctx, list.BoardID, copies); err != nil {
		return board.Card{}, err
	}
	tx.Emit(list.BoardID, board.CardCopied(copies[0].CardDetail, after))
	return copies[0].Card, nil
}

// leaveOut removes what the copy must not include.
func (in CopyCardInput) leaveOut(c *store.WholeCard) {
	out := func(include *bool) bool { return include != nil && !*include }
	if out(in.IncludeLabels) {
		c.Labels = []board.LabelRef{}
	}
	if out(in.IncludeAssignees) {
		c.Assignees = []board.UserRef{}
	}
	if out(in.IncludeDue) {
		c.Due = board.Due{}
	}
	if out(in.IncludeChecklists) {
		c.Checklists = nil
	}
}

// makeNew turns copied cards into new, open cards for a list. They get new ids, and the
// caller becomes their creator. If keepDone is set, cards and items that were done are done
// as of now. Otherwise none are done.
func makeNew(v *store.View, cards []store.WholeCard, listID string, keepDone bool) {
	now := v.Now()
	done := func(at *board.Instant) *board.Instant {
		if at == nil || !keepDone {
			return nil
		}
		return &now
	}
	for i := range cards {
		c := &cards[i]
		c.ID, c.ListID, c.CreatedBy = v.NewID("crd_"), listID, v.Caller().Person()
		c.SetArchived(nil, nil)
		c.DoneAt = done(c.DoneAt)
		c.Done = c.DoneAt != nil
		for n := range c.Checklists {
			k := &c.Checklists[n]
			k.ID = v.NewID("chk_")
			for m := range k.Items {
				it := &k.Items[m]
				it.ID, it.DoneAt = v.NewID("chi_"), done(it.DoneAt)
			}
		}
		for n := range c.CommentList {
			c.CommentList[n].ID = v.NewID("cmt_")
		}
		for n := range c.AttachmentList {
			a := &c.AttachmentList[n]
			a.ID, a.CreatedBy = v.NewID("att_"), v.Caller().Person()
			if a.Cover {
				c.Cover.AttachmentID = a.ID
			}
		}
	}
}

// CopyListInput is the input of CopyList.
type CopyListInput struct {
	ListInput
	Name     *string         `json:"name,omitempty" maxLength:"512" doc:"The copy's name. Defaults to the list's name." example:"Next week"`
	Position *board.Position `json:"position,omitempty" doc:"The position on the board. Defaults to directly after the list."`
}

// CopyList copies a list on its board, with its open cards but without their
// comments. It returns the copy or, if the list is large, a job that copies it.
func CopyList(ctx context.Context, tx *store.Tx, in CopyListInput) (board.List, *board.Job, error) {
	list, err := tx.List(ctx, in.ListID, board.Edit)
	if err != nil {
		return list, nil, err
	}
	at := board.After(list.ID)
	if in.Position != nil {
		at = *in.Position
	}
	if in.Name != nil {
		if list.Name, err = title("name", *in.Name); err != nil {
			return list, nil, err
		}
	}
	if err := roomForList(tx.View, list.BoardID, list.OpenCards, list.OpenCards); err != nil {
		return list, nil, err
	}
	large, err := isLargeList(ctx, tx.View, list)
	if err != nil {
		return list, nil, err
	}
	if large {
		job, err := startListCopy(ctx, tx, list, at)
		return board.List{}, &job, err
	}
	cards, err := tx.OpenCardsOf(ctx, list.ID)
	if err != nil {
		return list, nil, err
	}
	list.ID = tx.NewID("lst_")
	makeNew(tx.View, cards, list.ID, false)
	return list, nil, addList(ctx, tx, &list, cards, at)
}

// addList inserts a new list with its cards into a board. It emits an event for the list
// and one for each card.
func addList(ctx context.Context, tx *store.Tx, l *board.List, cards []store.WholeCard, at board.Position) error {
	after, err := tx.InsertList(ctx, l, at)
	if err != nil {
		return err
	}
	tx.Emit(l.BoardID, board.ListCreated(*l, after))
	ranks, err := board.RanksAfter("", len(cards))
	if err != nil {
		return err
	}
	for i := range cards {
		cards[i].Rank = ranks[i]
	}
	if err := tx.InsertCards(ctx, l.BoardID, cards); err != nil {
		return err
	}
	l.OpenCards = len(cards)
	after = ""
	for _, c := range cards {
		tx.Emit(l.BoardID, board.CardCopied(c.CardDetail, after))
		after = c.ID
	}
	return nil
}

// CopyBoardInput is the input of CopyBoard.
type CopyBoardInput struct {
	BoardInput
	Name         string `json:"name" maxLength:"512" doc:"The copy's name." example:"Launch in May"`
	WorkspaceID  string `json:"workspaceId,omitempty" maxLength:"64" doc:"The id of the workspace for the copy. Defaults to the board's workspace." example:"wsp_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	IncludeCards bool   `json:"includeCards,omitempty" doc:"Whether to copy the cards, except archived ones, without comments. Defaults to false." example:"true"`
}

// CopyBoard copies a board's description, color, visibility, features, labels,
// open lists with their WIP limits and, on request, the open cards. Members are
// not copied; the caller becomes the copy's admin. The public page is not
// copied either. Copying sends no events. CopyBoard returns the copy or, if the
// board is large, a job that copies it.
func CopyBoard(ctx context.Context, tx *store.Tx, in CopyBoardInput) (board.BoardDetail, *board.Job, error) {
	source, err := tx.Board(ctx, in.BoardID, board.View)
	if err != nil {
		return board.BoardDetail{}, nil, err
	}
	if in.WorkspaceID == "" {
		in.WorkspaceID = source.WorkspaceID
	}
	w, err := tx.Workspace(ctx, in.WorkspaceID, board.CreateBoards)
	if err != nil {
		return board.BoardDetail{}, nil, err
	}
	if in.Name, err = title("name", in.Name); err != nil {
		return board.BoardDetail{}, nil, err
	}
	if err := mayCopyBoard(tx.View, source, w.ID); err != nil {
		return board.BoardDetail{}, nil, err
	}
	if in.IncludeCards && source.OpenCards > smallBoard {
		job, err := tx.InsertJob(ctx, store.NewJob{Kind: board.JobCopyBoard, Workspace: w, Name: in.Name, Input: in})
		return board.BoardDetail{}, &job, err
	}
	d := tx.NewSmallDraft(w)
	b, err := in.draft(ctx, d, source)
	if errors.Is(err, store.ErrLargeDraft) {
		job, err := tx.InsertJob(ctx, store.NewJob{Kind: board.JobCopyBoard, Workspace: w, Name: in.Name, Input: in})
		return board.BoardDetail{}, &job, err
	}
	if err != nil {
		return board.BoardDetail{}, nil, err
	}
	out, err := boardDetail(ctx, tx.View, b)
	return out, nil, err
}

// mayCopyBoard returns an error if the caller may not copy a board to a workspace. The admins of
// a board decide who sees it, but not who sees a copy. So copying a board that the whole workspace
// cannot see, or copying to another workspace, requires the admin scope.
func mayCopyBoard(v *store.View, b board.Board, workspaceID string) error {
	switch {
	case b.Visibility != board.VisibleToWorkspace:
		return v.Caller().Needs(board.ScopeAdmin, "boardId: copying a "+string(b.Visibility)+" board")
	case b.WorkspaceID != workspaceID:
		return v.Caller().Needs(board.ScopeAdmin, "workspaceId: copying a board to another workspace")
	}
	return nil
}

// DraftCopy adds a copy of a board to the draft of a job. It checks the caller's
// permissions on that board again.
func DraftCopy(ctx context.Context, d *store.Draft, in CopyBoardInput) error {
	source, err := d.View().Board(ctx, in.BoardID, board.View)
	if err != nil {
		return err
	}
	if err := mayCopyBoard(d.View(), source, d.Workspace().ID); err != nil {
		return err
	}
	_, err = in.draft(ctx, d, source)
	return err
}

// draft adds a copy of a board to a draft. The draft's view must have loaded the board.
func (in CopyBoardInput) draft(ctx context.Context, d *store.Draft, source board.Board) (board.Board, error) {
	v := d.View()
	b := board.Board{Name: in.Name, Description: source.Description, Color: source.Color, Background: source.Background,
		Visibility: source.Visibility, Features: source.Features}
	labels, lists, err := labelsAndLists(ctx, v, source.ID)
	if err != nil {
		return b, err
	}
	if err := draftBoard(ctx, d, &b); err != nil {
		return b, err
	}
	if b.Background != nil {
		picture, err := v.Background(ctx, source.ID, *b.Background)
		if err != nil {
			return b, err
		}
		if err := d.Background(ctx, b.ID, picture.Picture); err != nil {
			return b, err
		}
	}
	copied := map[string]board.LabelRef{}
	old := slices.Clone(labels)
	if err := draftLabels(ctx, d, b.ID, labels); err != nil {
		return b, err
	}
	for i, l := range labels {
		copied[old[i].ID] = board.LabelRef{ID: l.ID, Name: l.Name, Color: l.Color}
	}
	var order draftOrder
	for _, l := range lists {
		from := l.ID
		if err := order.list(ctx, d, b.ID, &l); err != nil {
			return b, err
		}
		if !in.IncludeCards {
			continue
		}
		err := eachOpenCard(ctx, v, from, func(cards []store.WholeCard) error {
			relabel(cards, func(own board.LabelRef) (board.LabelRef, bool) { return copied[own.ID], true })
			people, err := d.PeopleWithAccess(ctx, b.ID, assigneesOf(cards))
			if err != nil {
				return err
			}
			keepAssignees(cards, func(id string) bool { return people[id] })
			return order.cards(ctx, d, b.ID, l.ID, cards, true)
		})
		if err != nil {
			return b, err
		}
	}
	return b, endBoard(ctx, d, &b)
}

// labelsAndLists returns the labels and open lists of a board.
func labelsAndLists(ctx context.Context, v *store.View, boardID string) ([]board.Label, []board.List, error) {
	count, err := v.CountLabels(ctx, boardID)
	if err != nil {
		return nil, nil, err
	}
	labels, err := v.Labels(ctx, boardID, "", "", count)
	if err != nil {
		return nil, nil, err
	}
	lists, err := v.Lists(ctx, boardID, false, "", v.On(boardID).OpenLists)
	return labels, lists, err
}

// eachOpenCard calls fn with successive pages of the open cards of a list.
func eachOpenCard(ctx context.Context, v *store.View, listID string, fn func([]store.WholeCard) error) error {
	for rank := ""; ; {
		cards, err := v.OpenCardsAfter(ctx, listID, rank, cardsAtOnce)
		if err != nil || len(cards) == 0 {
			return err
		}
		rank = cards[len(cards)-1].Rank
		if err := fn(cards); err != nil {
			return err
		}
	}
}
