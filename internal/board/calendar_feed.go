package board

// CalendarFeed is the address at which calendar programs find a person's due
// dates, without the secret in it.
type CalendarFeed struct {
	Active    bool     `json:"active" doc:"Whether there is one." example:"true"`
	BoardIDs  []string `json:"boardIds" doc:"The boards whose cards it shows; none for the cards assigned to the caller, on any board." example:"[\"brd_01jb2m3n4p5q6r7s8t9v0w1x2y\"]"`
	CreatedAt *Instant `json:"createdAt" format:"date-time" doc:"When its address was made; null while there is none." example:"2026-03-02T09:00:00.000Z"`
}

// FeedCard is a card as a calendar feed shows it.
type FeedCard struct {
	ID, Title, Description, Board, List string
	Due
	CreatedAt, UpdatedAt Instant
}
