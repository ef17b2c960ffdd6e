package board

// AuditEntry records an operation and who called it. For a board that the
// reader cannot see it holds only ids.
type AuditEntry struct {
	ID           string  `json:"id" doc:"The entry's id." example:"aud_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	At           Instant `json:"at" format:"date-time" doc:"When it happened." example:"2026-03-02T09:00:00.000Z"`
	Operation    string  `json:"operation" doc:"The name of the operation." example:"change_member"`
	Actor        Actor   `json:"actor" doc:"The actor."`
	ActorName    *string `json:"actorName" doc:"The person's name; null if the actor is not a person." example:"Ada Lovelace"`
	TokenID      *string `json:"tokenId" doc:"The API token that was used; null for a browser session." example:"tok_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	TokenName    *string `json:"tokenName" doc:"The token's name." example:"Deploy script"`
	BoardID      *string `json:"boardId" doc:"The board concerned, if any." example:"brd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	BoardName    *string `json:"boardName" doc:"The board's name; null if the reader cannot see the board or it no longer exists." example:"Launch"`
	BoardVersion *int64  `json:"boardVersion" doc:"The boardVersion after the change; null if no board changed." example:"42"`
	Subject      *string `json:"subject" doc:"The id of the object concerned." example:"usr_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	SubjectName  *string `json:"subjectName" doc:"The object's current name; null if the reader cannot see the object or it no longer exists." example:"Grace Hopper"`
	Changes      Changes `json:"changes" doc:"The previous and new value of each changed field; empty if the reader cannot see the object."`
	RequestID    *string `json:"requestId" doc:"The request's id, as in the server's log." example:"req_01jb2m3n4p5q6r7s8t9v0w1x2y"`
}

// Join merges later changes into earlier ones. A field that changed twice keeps
// its first old value and its last new value.
func (c Changes) Join(after Changes) {
	for field, change := range after {
		if before, ok := c[field]; ok {
			change.From = before.From
		}
		c[field] = change
	}
}
