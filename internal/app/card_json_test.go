package app

import (
	"testing"

	"github.com/go-json-experiment/json"
	"pgregory.net/rapid"

	"cardwall/internal/board"
)

// The hand-written encoder of cards produces the same JSON as encoding the struct.
func TestHandWrittenCardEncoderMatchesTheStruct(t *testing.T) {
	t.Parallel()
	card := rapid.Make[board.Card]()
	inCalendar := rapid.Make[board.CalendarCard]()
	rapid.Check(t, func(rt *rapid.T) {
		c := card.Draw(rt, "card")
		// A response contains arrays, never null, and only times that JSON can represent.
		if c.Labels == nil {
			c.Labels = []board.LabelRef{}
		}
		if c.Assignees == nil {
			c.Assignees = []board.UserRef{}
		}
		drawTimes(rt, &c.CreatedAt, &c.UpdatedAt, c.DoneAt, c.ArchivedAt, c.DueAt, c.StartAt)
		got, gotErr := appendCard(nil, &c)
		want, err := json.Marshal(c)
		if string(got) != string(want) && (err == nil || gotErr == nil) {
			rt.Errorf("a card is encoded as\n%s, %v, want\n%s, %v", got, gotErr, want, err)
		}
		k := inCalendar.Draw(rt, "card of a calendar")
		drawTimes(rt, k.DueAt, k.StartAt)
		got, gotErr = appendCalendarCard(nil, &k)
		want, err = json.Marshal(k)
		if string(got) != string(want) && (err == nil || gotErr == nil) {
			rt.Errorf("a card of a calendar is encoded as\n%s, %v, want\n%s, %v", got, gotErr, want, err)
		}
	})
}

func drawTimes(rt *rapid.T, all ...*board.Instant) {
	for _, at := range all {
		if at != nil {
			*at = board.Instant(rapid.Int64Range(0, 4102444800000).Draw(rt, "instant"))
		}
	}
}
