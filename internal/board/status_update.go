package board

// Status is the health of a board in a status update.
type Status string

// The five statuses.
const (
	StatusOnTrack  Status = "on_track"
	StatusAtRisk   Status = "at_risk"
	StatusOffTrack Status = "off_track"
	StatusOnHold   Status = "on_hold"
	StatusComplete Status = "complete"
)

// StatusUpdate is a report on a board's progress with the board's figures at
// that time. It is never changed.
type StatusUpdate struct {
	ID         string   `json:"id" doc:"The status update's id." example:"sts_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	BoardID    string   `json:"boardId" doc:"The id of the board that the status update is about." example:"brd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Status     Status   `json:"status" enum:"on_track,at_risk,off_track,on_hold,complete" doc:"How the board is doing." example:"on_track"`
	Title      string   `json:"title" doc:"The status update's one-line summary." example:"Press kit is out"`
	Text       string   `json:"text" doc:"The status update's text, in Markdown; may be empty." example:"The printer **confirmed** Friday."`
	StartDate  *string  `json:"startDate" format:"date" doc:"The day on which the work starts or started; null if there is none." example:"2026-03-01"`
	TargetDate *string  `json:"targetDate" format:"date" doc:"The day by which the work should be complete; null if there is none." example:"2026-04-15"`
	Author     *UserRef `json:"author" doc:"The person who posted the status update; null if it was not posted by a person."`
	CreatedAt  Instant  `json:"createdAt" format:"date-time" doc:"When the status update was posted." example:"2026-03-12T16:20:00.000Z"`
	Snapshot   Figures  `json:"snapshot" doc:"The board's figures at the time of the status update, in the author's time zone. They never change."`
}

// StatusRef is the latest status update of a board.
type StatusRef struct {
	ID        string  `json:"id" doc:"The status update's id." example:"sts_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Status    Status  `json:"status" enum:"on_track,at_risk,off_track,on_hold,complete" doc:"How the board is doing." example:"on_track"`
	Title     string  `json:"title" doc:"The status update's one-line summary." example:"Press kit is out"`
	CreatedAt Instant `json:"createdAt" format:"date-time" doc:"When the status update was posted." example:"2026-03-12T16:20:00.000Z"`
}
