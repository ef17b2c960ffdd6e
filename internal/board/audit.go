package board

// AuditEntry is an operation that somebody did, for those who must answer for
// it. Of a board that the reader does not see it tells ids alone.
type AuditEntry struct {
	ID           string  `json:"id" doc:"The entry's id." example:"aud_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	At           Instant `json:"at" format:"date-time" doc:"When." example:"2026-03-02T09:00:00.000Z"`
	Operation    string  `json:"operation" doc:"What was done: the name of the operation." example:"change_member"`
	Actor        Actor   `json:"actor" doc:"Who did it."`
	ActorName    *string `json:"actorName" doc:"The person's name; null for who is no person." example:"Ada Lovelace"`
	TokenID      *string `json:"tokenId" doc:"The API token that was used; null in a browser." example:"tok_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	TokenName    *string `json:"tokenName" doc:"The token's name." example:"Deploy script"`
	BoardID      *string `json:"boardId" doc:"The board it was about, if any." example:"brd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	BoardName    *string `json:"boardName" doc:"The board's name; null when the reader does not see the board, or it is gone." example:"Launch"`
	BoardVersion *int64  `json:"boardVersion" doc:"The version of the board that it made; null when it changed none." example:"42"`
	Subject      *string `json:"subject" doc:"The id of what it was about." example:"usr_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	SubjectName  *string `json:"subjectName" doc:"What that is called now; null when the reader does not see it, or it is gone." example:"Grace Hopper"`
	Changes      Changes `json:"changes" doc:"Field by field what it was and what it is; empty when the reader does not see it."`
	RequestID    *string `json:"requestId" doc:"The request's id, as the server's log has it." example:"req_01jb2m3n4p5q6r7s8t9v0w1x2y"`
}

// Join adds what changed after to what changed before: of a field that changed
// twice the first value and the last stay.
func (c Changes) Join(after Changes) {
	for field, change := range after {
		if before, ok := c[field]; ok {
			change.From = before.From
		}
		c[field] = change
	}
}
