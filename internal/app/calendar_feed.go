package app

import (
	"context"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// feedBoards is how many boards a calendar feed can name.
const feedBoards = 100

// GetCalendarFeed answers the caller's calendar feed; its address was shown when
// it was made.
func GetCalendarFeed(ctx context.Context, v *store.View, _ Nothing) (board.CalendarFeed, error) {
	return v.CalendarFeed(ctx)
}

// CalendarFeedInput says what a calendar feed shows.
type CalendarFeedInput struct {
	BoardIDs []string `json:"boardIds,omitempty" maxItems:"100" doc:"The boards whose cards the feed shows. When absent or empty it shows the cards assigned to the caller, on any board." example:"[\"brd_01jb2m3n4p5q6r7s8t9v0w1x2y\"]"`
}

// MadeCalendarFeed is a new calendar feed with its address.
type MadeCalendarFeed struct {
	board.CalendarFeed
	Address string `json:"address" format:"uri" doc:"The feed's address for calendar programs. It is shown only once. Anyone who has it can read the feed." example:"https://cardwall.example.com/ical/Q7WTN3MZ5KX2VJ4YRB6HDACGEP.ics"`
}

// CreateCalendarFeed makes the caller's calendar feed, or gives it another
// address: the one before ends.
func CreateCalendarFeed(ctx context.Context, tx *store.Tx, in CalendarFeedInput) (MadeCalendarFeed, error) {
	boards, err := boardsOfFeed(ctx, tx, in)
	if err != nil {
		return MadeCalendarFeed{}, err
	}
	secret := board.NewSecret()
	feed, err := tx.SetCalendarFeed(ctx, board.SecretHash(secret), boards)
	return MadeCalendarFeed{feed, tx.Link("/ical/" + secret + ".ics")}, err
}

// UpdateCalendarFeed changes what the caller's calendar feed shows. Its address
// stays.
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

// boardsOfFeed refuses a board that the caller does not see, or that shows in no
// calendar outside.
func boardsOfFeed(ctx context.Context, tx *store.Tx, in CalendarFeedInput) ([]string, error) {
	if err := board.Room("boards of a calendar feed", 0, len(in.BoardIDs), feedBoards); err != nil {
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
			return nil, board.Forbidden("The board %q is confidential: nothing of it leaves, so no calendar outside shows it.", b.Name)
		}
		boards = append(boards, b.ID)
	}
	return boards, nil
}

// WithdrawnCalendarFeed says what is so now.
type WithdrawnCalendarFeed struct {
	Active bool `json:"active" doc:"Whether the caller has a calendar feed; always false." example:"false"`
}

// DeleteCalendarFeed ends the caller's calendar feed. Doing it twice is no
// mistake.
func DeleteCalendarFeed(ctx context.Context, tx *store.Tx, _ Nothing) (WithdrawnCalendarFeed, error) {
	return WithdrawnCalendarFeed{}, tx.DeleteCalendarFeed(ctx)
}
