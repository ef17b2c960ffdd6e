package app

import (
	"testing"

	"github.com/go-json-experiment/json"
	"pgregory.net/rapid"

	"cardwall/internal/board"
)

// The hand-written card encoders produce the same JSON as json.Marshal.
func TestHandWrittenCardEncoderMatchesMarshal(t *testing.T) {
	t.Parallel()
	card := rapid.Make[board.Card]()
	calendarCard := rapid.Make[board.CalendarCard]()
	rapid.Check(t, func(rt *rapid.T) {
		c := card.Draw(rt, "card")
		// In responses, arrays are never null and times are always representable in JSON.
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
			rt.Errorf("card: got\n%s (error %v), want\n%s (error %v)", got, gotErr, want, err)
		}
		k := calendarCard.Draw(rt, "calendar card")
		drawTimes(rt, k.DueAt, k.StartAt)
		got, gotErr = appendCalendarCard(nil, &k)
		want, err = json.Marshal(k)
		if string(got) != string(want) && (err == nil || gotErr == nil) {
			rt.Errorf("calendar card: got\n%s (error %v), want\n%s (error %v)", got, gotErr, want, err)
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
