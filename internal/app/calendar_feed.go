package app

import (
	"context"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// feedBoards is the maximum number of boards of a calendar feed.
const feedBoards = 100

// GetCalendarFeed returns the caller's calendar feed without its address. If the
// caller has none, the feed is inactive.
func GetCalendarFeed(ctx context.Context, v *store.View, _ Nothing) (board.CalendarFeed, error) {
	return v.CalendarFeed(ctx)
}

// CalendarFeedInput selects what a calendar feed shows.
type CalendarFeedInput struct {
	BoardIDs []string `json:"boardIds,omitempty" maxItems:"100" doc:"The ids of the boards whose cards the feed shows. If absent or empty, the feed shows the cards assigned to the caller, on any board." example:"[\"brd_01jb2m3n4p5q6r7s8t9v0w1x2y\"]"`
}

// MadeCalendarFeed is a new calendar feed with its address.
type MadeCalendarFeed struct {
	board.CalendarFeed
	Address string `json:"address" format:"uri" doc:"The feed's URL, for calendar programs. It is shown only once. Anyone who has it can read the feed." example:"https://cardwall.example.com/ical/Q7WTN3MZ5KX2VJ4YRB6HDACGEP.ics"`
}

// CreateCalendarFeed creates the caller's calendar feed. If there is one already, its
// address and its boards are replaced.
func CreateCalendarFeed(ctx context.Context, tx *store.Tx, in CalendarFeedInput) (MadeCalendarFeed, error) {
	boards, err := boardsOfFeed(ctx, tx, in)
	if err != nil {
		return MadeCalendarFeed{}, err
	}
	secret := board.NewSecret()
	feed, err := tx.SetCalendarFeed(ctx, board.SecretHash(secret), boards)
	return MadeCalendarFeed{feed, tx.Link("/ical/" + secret + ".ics")}, err
}

// UpdateCalendarFeed changes what the caller's calendar feed shows. The address
// stays the same. It returns an error if there is no feed.
func UpdateCalendarFeed(ctx context.Context, tx *store.Tx, in CalendarFeedInput) (board.CalendarFeed, error) {
	if _, err := tx.CalendarFeed(ctx); err != nil {
		return board.CalendarFeed{}, err
	}
	boards, err := boardsOfFeed(ctx, tx, in)
	if err != nil {
		return board.CalendarFeed{}, err
	}
	return tx.SetCalendarFeed(ctx, nil, boards)
}

// boardsOfFeed validates the ids of a feed's boards and returns them. It returns
// an error for a board that the caller cannot see, or whose cards must not
// appear in external calendars.
func boardsOfFeed(ctx context.Context, tx *store.Tx, in CalendarFeedInput) ([]string, error) {
	if err := board.CheckLimit("boards of a calendar feed", 0, len(in.BoardIDs), feedBoards); err != nil {
		return nil, err
	}
	boards := []string{}
	for _, id := range in.BoardIDs {
		b, err := tx.View.Board(ctx, id, board.View)
		if err != nil {
			return nil, err
		}
		if err := tx.On(id).Needs(board.Calendar); err != nil {
			return nil, err
		}
		if b.Visibility == board.Confidential {
			return nil, board.Forbidden("The board %q is confidential, so it cannot be part of a "+
				"calendar feed.", b.Name)
		}
		boards = append(boards, b.ID)
	}
	return boards, nil
}

// WithdrawnCalendarFeed is the state after DeleteCalendarFeed.
type WithdrawnCalendarFeed struct {
	Active bool `json:"active" doc:"Whether the caller has a calendar feed; always false." example:"false"`
}

// DeleteCalendarFeed deletes the caller's calendar feed. It succeeds even if
// there is none.
func DeleteCalendarFeed(ctx context.Context, tx *store.Tx, _ Nothing) (WithdrawnCalendarFeed, error) {
	return WithdrawnCalendarFeed{}, tx.DeleteCalendarFeed(ctx)
}
