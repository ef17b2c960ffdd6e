package board

import (
	"fmt"
	"strings"
)

// DeliveryStatus is how far a delivery is.
type DeliveryStatus string

// The statuses of a delivery.
const (
	DeliveryPending    DeliveryStatus = "pending"       // not attempted yet
	DeliveryDelivering DeliveryStatus = "delivering"    // an attempt takes its time
	DeliveryRetry      DeliveryStatus = "pending retry" // the next attempt waits for its pause
	DeliveryDelivered  DeliveryStatus = "delivered"
	DeliveryFailed     DeliveryStatus = "failed"  // refused for good, no retry
	DeliveryGaveUp     DeliveryStatus = "gave up" // the last retry failed
	DeliverySkipped    DeliveryStatus = "skipped" // not to be sent
)

// CanSendAgain tells whether a person may have the delivery sent again.
func (s DeliveryStatus) CanSendAgain() bool {
	return s == DeliveryFailed || s == DeliveryGaveUp || s == DeliverySkipped
}

// Delivery is an event on its way to one webhook, as the log tells it.
type Delivery struct {
	ID            string         `json:"id" doc:"The delivery's id: the header webhook-id and the body's id, at every attempt." example:"itg_01jb2m3n4p5q6r7s8t9v0w1x2y:v42"`
	WebhookID     string         `json:"webhookId" doc:"The webhook." example:"whk_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Type          Kind           `json:"type" doc:"The kind of event." example:"card.created"`
	BoardID       *string        `json:"boardId" doc:"The board of the event; null for a test of a webhook that covers a workspace." example:"brd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	BoardVersion  int64          `json:"boardVersion" doc:"The version of the board that the change made." example:"42"`
	Status        DeliveryStatus `json:"status" enum:"pending,delivering,pending retry,delivered,failed,gave up,skipped" doc:"How far it is." example:"pending retry"`
	Reason        string         `json:"reason" doc:"Why it is so, and what comes next, in words." example:"HTTP 503; next attempt 14:02:10 UTC"`
	HTTPStatus    *int           `json:"httpStatus" doc:"The status of the last answer; null when there was none." example:"503"`
	Attempts      int            `json:"attempts" doc:"How often it was attempted since it was made or sent again." example:"2"`
	NextAttemptAt *Instant       `json:"nextAttemptAt" format:"date-time" doc:"When it is attempted next, if its receiver is not held back; null when it is not." example:"2026-03-02T14:02:10.000Z"`
	CreatedAt     Instant        `json:"createdAt" format:"date-time" doc:"When the event was." example:"2026-03-02T14:00:00.000Z"`
	EndedAt       *Instant       `json:"endedAt" format:"date-time" doc:"When it came to its end; null while it is under way." example:"2026-03-02T14:00:00.100Z"`
}

// DeliveryDetail is a delivery with all that happened to it.
type DeliveryDetail struct {
	Delivery
	Log  []DeliveryAttempt `json:"log" doc:"The attempts, the last twenty at most."`
	Body string            `json:"body" doc:"What is sent, byte for byte at every attempt." example:"{\"id\":\"itg_01jb2m3n4p5q6r7s8t9v0w1x2y:v42\"}"`
}

// DeliveryAttempt is one try to deliver.
type DeliveryAttempt struct {
	At         Instant `json:"at" format:"date-time" doc:"When it began." example:"2026-03-02T14:00:00.000Z"`
	Duration   int64   `json:"durationMs" doc:"How long it took, in milliseconds." example:"180"`
	HTTPStatus *int    `json:"httpStatus" doc:"The status of the answer; null when none came." example:"503"`
	Outcome    string  `json:"outcome" doc:"What came of it, in words." example:"HTTP 503"`
	Answer     string  `json:"answer" doc:"The first kilobyte of the answer's body." example:"try again later"`
}

// AttemptsKept is how many attempts the log of a delivery holds.
const AttemptsKept = 20

// Describe is a delivery's reason with what comes next, as its log says it.
// Held means that its receiver fails and one other delivery at a time probes it;
// until is when the pause ends that the receiver asked for, 0 for none.
func (d *Delivery) Describe(now Instant, held bool, until Instant) {
	next := ""
	switch {
	case d.NextAttemptAt == nil:
	case held && until > max(now, *d.NextAttemptAt) && d.Type != KindWebhookTest:
		next = "held until " + until.Time().Format("15:04:05") + " UTC: the receiver asked for a pause"
	case *d.NextAttemptAt > now:
		next = "next attempt " + d.NextAttemptAt.Time().Format("15:04:05") + " UTC"
		if *d.NextAttemptAt-now > 12*60*60*1000 {
			next = "next attempt " + d.NextAttemptAt.Time().Format("2 January 15:04:05") + " UTC"
		}
	case held:
		next = "held: receiver failing"
	case d.Status != DeliveryDelivering:
		next = "waits for its turn"
	}
	parts := []string{}
	for _, s := range []string{d.Reason, next} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	d.Reason = strings.Join(parts, "; ")
}

// DeliveryQuota is how many deliveries an organization has on a day.
type DeliveryQuota struct {
	ID    string `json:"organizationId" doc:"The organization." example:"org_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Plan  Plan   `json:"plan" doc:"Its plan." example:"team"`
	Day   string `json:"day" format:"date" doc:"The day, in UTC." example:"2026-03-02"`
	Used  int    `json:"used" doc:"Deliveries caused on the day." example:"120"`
	Limit int    `json:"limit" doc:"What the plan allows; what is over it is skipped." example:"10000"`
}

// Outgoing is the body of a delivery: identifiers, dates and plain facts only.
type Outgoing struct {
	ID           string  `json:"id" doc:"The delivery's id, the same at every attempt; ignore what came before." example:"itg_01jb2m3n4p5q6r7s8t9v0w1x2y:v42"`
	Type         Kind    `json:"type" doc:"The kind of event." example:"card.created"`
	Format       string  `json:"format" doc:"The version of this shape." example:"service-webhook/1"`
	OccurredAt   Instant `json:"occurredAt" format:"date-time" doc:"When it happened." example:"2026-03-02T14:00:00.000Z"`
	WorkspaceID  string  `json:"workspaceId" doc:"The workspace." example:"wsp_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	BoardID      *string `json:"boardId" doc:"The board; null for a test of a webhook that covers a workspace." example:"brd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	BoardVersion int64   `json:"boardVersion" doc:"The version of the board that the change made: orders deliveries, and shows gaps." example:"42"`
	Actor        Actor   `json:"actor" doc:"Who caused it."`
	Data         any     `json:"data" doc:"What it is about, by kind."`
	Links        Links   `json:"links" doc:"Where the details are, for a token of the receiver's own."`
}

// Links are absolute addresses of the public interface.
type Links struct {
	Board *string `json:"board" doc:"The board." example:"https://cardwall.example.com/api/public/v1/boards/brd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Card  *string `json:"card" doc:"The card; null when it is about none." example:"https://cardwall.example.com/api/public/v1/cards/crd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Lists *string `json:"lists" doc:"The board's lists." example:"https://cardwall.example.com/api/public/v1/boards/brd_01jb2m3n4p5q6r7s8t9v0w1x2y/lists"`
}

// LinksOf are the links of an event on a board, about a card or "".
func LinksOf(baseURL, boardID, cardID string) (l Links) {
	if boardID != "" {
		b := baseURL + APIPath + "/boards/" + boardID
		lists := b + "/lists"
		l.Board, l.Lists = &b, &lists
	}
	if cardID != "" {
		c := baseURL + APIPath + "/cards/" + cardID
		l.Card = &c
	}
	return l
}

// DeliveryID makes the id of a delivery from a fresh identifier.
func DeliveryID(fresh string, boardVersion int64) string {
	return fmt.Sprintf("%s:v%d", fresh, boardVersion)
}
