package app

import (
	"context"
	"math"

	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/store"
)

// ListStatusUpdatesInput is the input of ListStatusUpdates.
type ListStatusUpdatesInput struct {
	BoardInput
	op.Paging
}

// ListStatusUpdates returns the status updates of a board, newest first. They
// stay readable when the feature is disabled.
func ListStatusUpdates(ctx context.Context, v *store.View, in ListStatusUpdatesInput) (op.Page[board.StatusUpdate], error) {
	before := store.StatusUpdateCursor{At: math.MaxInt64}
	if err := in.After(&before); err != nil {
		return op.Page[board.StatusUpdate]{}, err
	}
	if err := v.CheckBoard(ctx, in.BoardID, board.View); err != nil {
		return op.Page[board.StatusUpdate]{}, err
	}
	all, err := v.StatusUpdates(ctx, in.BoardID, before, in.Size()+1)
	return op.Cut(all, in.Size(), func(s board.StatusUpdate) any { return store.StatusUpdateCursor{At: s.CreatedAt, ID: s.ID} }), err
}

// StatusUpdateInput identifies a status update.
type StatusUpdateInput struct {
	StatusUpdateID string `json:"statusUpdateId" maxLength:"64" doc:"The id of the status update." example:"sts_01jb2m3n4p5q6r7s8t9v0w1x2y"`
}

// GetStatusUpdate returns a status update. It stays readable when the feature is disabled.
func GetStatusUpdate(ctx context.Context, v *store.View, in StatusUpdateInput) (board.StatusUpdate, error) {
	return v.StatusUpdate(ctx, in.StatusUpdateID, board.View)
}

// PostStatusUpdateInput holds the fields of a new status update.
type PostStatusUpdateInput struct {
	BoardInput
	Status     board.Status `json:"status" enum:"on_track,at_risk,off_track,on_hold,complete" doc:"How the board is doing." example:"on_track"`
	Title      string       `json:"title" maxLength:"512" doc:"A one-line summary of the status update." example:"Press kit is out"`
	Text       string       `json:"text,omitempty" maxLength:"16384" doc:"The status update's text, in Markdown." example:"The printer **confirmed** Friday."`
	StartDate  string       `json:"startDate,omitempty" doc:"The day on which the work starts or started, YYYY-MM-DD." example:"2026-03-01"`
	TargetDate string       `json:"targetDate,omitempty" doc:"The day by which the work should be complete, YYYY-MM-DD. It must not be before startDate." example:"2026-04-15"`
}

// PostStatusUpdate posts a status update and stores the board's current figures
// with it. Nobody can change a status update afterwards.
func PostStatusUpdate(ctx context.Context, tx *store.Tx, in PostStatusUpdateInput) (board.StatusUpdate, error) {
	b, err := tx.Board(ctx, in.BoardID, board.Edit)
	if err != nil {
		return board.StatusUpdate{}, err
	}
	if err := tx.On(b.ID).Needs(board.StatusUpdates); err != nil {
		return board.StatusUpdate{}, err
	}
	s := board.StatusUpdate{ID: tx.NewID("sts_"), BoardID: b.ID, Status: in.Status, Text: in.Text}
	if s.Title, err = title("title", in.Title); err != nil {
		return s, err
	}
	if s.StartDate, err = optionalDate("startDate", in.StartDate); err != nil {
		return s, err
	}
	if s.TargetDate, err = optionalDate("targetDate", in.TargetDate); err != nil {
		return s, err
	}
	if s.StartDate != nil && s.TargetDate != nil && *s.TargetDate < *s.StartDate {
		return s, board.Invalid("targetDate must not be before startDate.").In("targetDate", board.RuleValue)
	}
	zone := "UTC"
	if tx.Caller().UserID != "" {
		me, err := tx.User(ctx)
		if err != nil {
			return s, err
		}
		s.Author, zone = &board.UserRef{ID: me.ID, Name: me.Name}, me.TimeZone
	}
	days, err := reportDays(ctx, tx.View, zone)
	if err != nil {
		return s, err
	}
	if s.Snapshot, err = tx.Figures(ctx, b.ID, days.cut(tx.Now())); err != nil {
		return s, err
	}
	if err := tx.InsertStatusUpdate(ctx, &s); err != nil {
		return s, err
	}
	tx.Emit(b.ID, board.StatusPosted(s))
	return s, nil
}

// optionalDate validates a date that may be absent.
func optionalDate(field, s string) (*string, error) {
	if s == "" {
		return nil, nil
	}
	_, err := board.ParseDate(field, s)
	return &s, err
}
