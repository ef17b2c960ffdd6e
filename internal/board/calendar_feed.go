package board

// CalendarFeed describes the URL from which calendar programs read a person's due
// dates. It does not contain the secret part of the URL.
type CalendarFeed struct {
	Active    bool     `json:"active" doc:"Whether the caller has a calendar feed." example:"true"`
	BoardIDs  []string `json:"boardIds" doc:"The ids of the boards whose cards the feed shows. If empty, the feed shows the cards assigned to the caller, on any board." example:"[\"brd_01jb2m3n4p5q6r7s8t9v0w1x2y\"]"`
	CreatedAt *Instant `json:"createdAt" format:"date-time" doc:"When the feed's URL was created; null if there is no feed." example:"2026-03-02T09:00:00.000Z"`
}

// FeedCard is a card as it appears in a calendar feed.
type FeedCard struct {
	ID, Title, Description, Board, List string
	Due
	CreatedAt, UpdatedAt Instant
}
