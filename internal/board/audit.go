package board

// AuditEntry records an operation and its caller. For a board that the reader cannot
// see, it contains only ids.
type AuditEntry struct {
	ID           string     `json:"id" doc:"The entry's id." example:"aud_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	At           Instant    `json:"at" format:"date-time" doc:"When the operation was performed." example:"2026-03-02T09:00:00.000Z"`
	Operation    string     `json:"operation" doc:"The name of the operation." example:"change_member"`
	Actor        EntryActor `json:"actor" doc:"The actor that performed the operation."`
	ActorName    *string    `json:"actorName" doc:"The person's name; null if the actor is not a person." example:"Ada Lovelace"`
	TokenID      *string    `json:"tokenId" doc:"The id of the API token that was used; null if none was used." example:"tok_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	TokenName    *string    `json:"tokenName" doc:"The token's name; null if no token was used." example:"Deploy script"`
	BoardID      *string    `json:"boardId" doc:"The id of the affected board; null if there is none." example:"brd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	BoardName    *string    `json:"boardName" doc:"The board's name; null if there is no board, or if the caller cannot see it or it no longer exists." example:"Launch"`
	BoardVersion *int64     `json:"boardVersion" doc:"The boardVersion after the change; null if no board changed." example:"42"`
	Subject      *string    `json:"subject" doc:"The id of the affected object; null if there is none." example:"usr_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	SubjectName  *string    `json:"subjectName" doc:"The object's current name; null if the caller cannot see the object, or if it has no name, no longer exists or is on another board now." example:"Grace Hopper"`
	Changes      Changes    `json:"changes" doc:"The previous and new values of each changed field; empty if the caller cannot see the object."`
	RequestID    *string    `json:"requestId" doc:"The id of the request, as in the server log; null if no request caused the operation." example:"req_01jb2m3n4p5q6r7s8t9v0w1x2y"`
}

// Join merges later changes into c. A field that changed twice keeps its first old
// value and its last new value.
func (c Changes) Join(after Changes) {
	for field, change := range after {
		if before, ok := c[field]; ok {
			change.From = before.From
		}
		c[field] = change
	}
}

// OwnCall is a call with which a person changed a board.
type OwnCall struct {
	ID           string  `json:"id" doc:"The id of the call." example:"aud_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	At           Instant `json:"at" format:"date-time" doc:"When the call was made." example:"2026-03-02T09:00:00.000Z"`
	Operation    string  `json:"operation" doc:"The name of the operation." example:"update_cards"`
	BoardID      string  `json:"boardId" doc:"The id of the board." example:"brd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	BoardName    string  `json:"boardName" doc:"The board's name." example:"Launch"`
	Subject      *string `json:"subject" doc:"The id of the affected object; null if there is none." example:"crd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	SubjectName  *string `json:"subjectName" doc:"The object's current name; null if it has no name, no longer exists or is on another board now." example:"Press release"`
	Changes      int64   `json:"changes" doc:"The number of changes that the call made, each an entry in the board's activity." example:"3"`
	BoardVersion int64   `json:"boardVersion" doc:"The boardVersion after the call. Its changes are the last ones up to this version." example:"42"`
}
