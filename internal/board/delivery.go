package board

import (
	"fmt"
	"strings"
)

// DeliveryStatus is the state of a delivery.
type DeliveryStatus string

// The statuses of a delivery.
const (
	DeliveryPending    DeliveryStatus = "pending"       // not attempted yet
	DeliveryDelivering DeliveryStatus = "delivering"    // an attempt is in progress
	DeliveryRetry      DeliveryStatus = "pending retry" // waiting for the next attempt
	DeliveryDelivered  DeliveryStatus = "delivered"
	DeliveryFailed     DeliveryStatus = "failed"  // failed permanently, without a retry
	DeliveryGaveUp     DeliveryStatus = "gave up" // the last retry failed
	DeliverySkipped    DeliveryStatus = "skipped" // not to be sent
)

// CanSendAgain reports whether a person may send the delivery again.
func (s DeliveryStatus) CanSendAgain() bool {
	return s == DeliveryFailed || s == DeliveryGaveUp || s == DeliverySkipped
}

// Delivery is an event that is sent to one webhook, as the delivery log shows
// it.
type Delivery struct {
	ID            string         `json:"id" doc:"The delivery's id. It is the same in the header webhook-id and in the body of every attempt." example:"itg_01jb2m3n4p5q6r7s8t9v0w1x2y:v42"`
	WebhookID     string         `json:"webhookId" doc:"The webhook." example:"whk_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Type          Kind           `json:"type" doc:"The kind of event." kinds:"webhook" example:"card.created"`
	BoardID       *string        `json:"boardId" doc:"The board of the event; null for a test of a workspace webhook." example:"brd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	BoardVersion  int64          `json:"boardVersion" doc:"The boardVersion after the change." example:"42"`
	Status        DeliveryStatus `json:"status" enum:"pending,delivering,pending retry,delivered,failed,gave up,skipped" doc:"The status." example:"pending retry"`
	Reason        string         `json:"reason" doc:"An explanation of the status and of what happens next." example:"HTTP 503; next attempt 14:02:10 UTC"`
	HTTPStatus    *int           `json:"httpStatus" doc:"The HTTP status of the last response; null for none." example:"503"`
	Attempts      int            `json:"attempts" doc:"The number of attempts since it was created or sent again." example:"2"`
	NextAttemptAt *Instant       `json:"nextAttemptAt" format:"date-time" doc:"When the next attempt is due, unless deliveries to the receiver are held; null for none." example:"2026-03-02T14:02:10.000Z"`
	CreatedAt     Instant        `json:"createdAt" format:"date-time" doc:"When the event happened." example:"2026-03-02T14:00:00.000Z"`
	EndedAt       *Instant       `json:"endedAt" format:"date-time" doc:"When it reached its final status; null if it is still pending." example:"2026-03-02T14:00:00.100Z"`
}

// DeliveryDetail is a delivery with its attempts and its body.
type DeliveryDetail struct {
	Delivery
	Log  []DeliveryAttempt `json:"log" doc:"The last twenty attempts."`
	Body string            `json:"body" doc:"The request body, identical in every attempt." example:"{\"id\":\"itg_01jb2m3n4p5q6r7s8t9v0w1x2y:v42\"}"`
}

// DeliveryAttempt is one attempt to send a delivery.
type DeliveryAttempt struct {
	At         Instant `json:"at" format:"date-time" doc:"When it started." example:"2026-03-02T14:00:00.000Z"`
	Duration   int64   `json:"durationMs" doc:"The duration in milliseconds." example:"180"`
	HTTPStatus *int    `json:"httpStatus" doc:"The HTTP status of the response; null for none." example:"503"`
	Outcome    string  `json:"outcome" doc:"A description of the result." example:"HTTP 503"`
	Answer     string  `json:"answer" doc:"The first kilobyte of the response body." example:"try again later"`
}

// AttemptsKept is the number of attempts that the log keeps for a delivery.
const AttemptsKept = 20

// Describe adds to the delivery's reason what happens next. Held means that the
// receiver is failing and another delivery probes it. Until is the end of a
// pause that the receiver asked for; 0 for none.
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
		next = "waiting for earlier deliveries"
	}
	parts := []string{}
	for _, s := range []string{d.Reason, next} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	d.Reason = strings.Join(parts, "; ")
}

// DeliveryQuota is an organization's deliveries on one day, with its limit.
type DeliveryQuota struct {
	ID    string `json:"organizationId" doc:"The organization." example:"org_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Plan  Plan   `json:"plan" doc:"Its plan." example:"team"`
	Day   string `json:"day" format:"date" doc:"The day, in UTC." example:"2026-03-02"`
	Used  int    `json:"used" doc:"Deliveries caused on that day." example:"120"`
	Limit int    `json:"limit" doc:"The limit of the plan. Deliveries over it are skipped." example:"10000"`
}

// Outgoing is the body of a delivery. It holds only identifiers, dates and
// plain facts.
type Outgoing struct {
	ID           string  `json:"id" doc:"The delivery's id, the same in every attempt. Use it to ignore duplicates." example:"itg_01jb2m3n4p5q6r7s8t9v0w1x2y:v42"`
	Type         Kind    `json:"type" doc:"The kind of event." kinds:"webhook" example:"card.created"`
	Format       string  `json:"format" doc:"The version of this format." example:"service-webhook/1"`
	OccurredAt   Instant `json:"occurredAt" format:"date-time" doc:"When it happened." example:"2026-03-02T14:00:00.000Z"`
	WorkspaceID  string  `json:"workspaceId" doc:"The workspace." example:"wsp_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	BoardID      *string `json:"boardId" doc:"The board; null for a test of a workspace webhook." example:"brd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	BoardVersion int64   `json:"boardVersion" doc:"The boardVersion after the change. Use it to order deliveries and to detect gaps." example:"42"`
	Actor        Actor   `json:"actor" doc:"The actor that caused it."`
	Data         any     `json:"data" doc:"The data of the event; its shape depends on the kind."`
	Links        Links   `json:"links" doc:"URLs for reading the details with a token of the receiver."`
}

// Links holds absolute URLs of the REST API.
type Links struct {
	Board *string `json:"board" doc:"The board." example:"https://cardwall.example.com/api/public/v1/boards/brd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Card  *string `json:"card" doc:"The card; null for none." example:"https://cardwall.example.com/api/public/v1/cards/crd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Lists *string `json:"lists" doc:"The board's lists." example:"https://cardwall.example.com/api/public/v1/boards/brd_01jb2m3n4p5q6r7s8t9v0w1x2y/lists"`
}

// LinksOf returns the links for an event on a board. CardID is "" for an event
// without a card.
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

// DeliveryID returns the id of a delivery, made from a new identifier.
func DeliveryID(fresh string, boardVersion int64) string {
	return fmt.Sprintf("%s:v%d", fresh, boardVersion)
}

// DeliveryEffect is what a finished delivery means for its webhook.
type DeliveryEffect struct {
	Delivered bool
	Counts    bool // a failure that counts towards FailuresToSwitchOff
	Gone      bool // the receiver responded with 410 (RFC 9110, 15.5.11)
	OwnerLost bool // the owner may no longer manage what the webhook covers
}

// After returns the number of consecutive failures of the webhook after the
// delivery, and the reason to turn the webhook off, or "" to leave it on.
func (e DeliveryEffect) After(failures int) (int, Off) {
	switch {
	case e.Delivered:
		failures = 0
	case e.Counts:
		failures++
	}
	switch {
	case e.Gone:
		return failures, OffGone
	case e.OwnerLost:
		return failures, OffOwner
	case e.Counts && failures == FailuresToSwitchOff:
		return failures, OffFailures
	}
	return failures, ""
}
