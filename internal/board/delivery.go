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

// CanRedeliver reports whether a person may redeliver a delivery in this state.
func (s DeliveryStatus) CanRedeliver() bool {
	return s == DeliveryFailed || s == DeliveryGaveUp || s == DeliverySkipped
}

// Delivery is an event that is sent to one webhook, as the delivery log shows
// it.
type Delivery struct {
	ID            string         `json:"id" doc:"The delivery's id. It is the same in the webhook-id header and in the body of every attempt." example:"itg_01jb2m3n4p5q6r7s8t9v0w1x2y:v42"`
	WebhookID     string         `json:"webhookId" doc:"The id of the webhook." example:"whk_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Type          Kind           `json:"type" doc:"The kind of event." kinds:"webhook" example:"card.created"`
	BoardID       *string        `json:"boardId" doc:"The id of the board that the event happened on; null for a test of a workspace webhook." example:"brd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	BoardName     *string        `json:"boardName" doc:"The name of the board; null if there is none, or if the caller cannot see it now." example:"Website"`
	CardID        *string        `json:"cardId" doc:"The id of the card that the event is about; null if there is none." example:"crd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	CardNumber    *int           `json:"cardNumber" doc:"The number of the card; null if there is none, or if the caller cannot see it now." example:"17"`
	CardTitle     *string        `json:"cardTitle" doc:"The title of the card; null if there is none, or if the caller cannot see it now." example:"Fix the login page"`
	BoardVersion  int64          `json:"boardVersion" doc:"The boardVersion after the change." example:"42"`
	Status        DeliveryStatus `json:"status" enum:"pending,delivering,pending retry,delivered,failed,gave up,skipped" doc:"The delivery's status." example:"pending retry"`
	Reason        string         `json:"reason" doc:"Why the delivery has this status, and what happens next." example:"HTTP 503; next attempt 14:02:10 UTC"`
	HTTPStatus    *int           `json:"httpStatus" doc:"The HTTP status of the last response; null if there was none." example:"503"`
	Attempts      int            `json:"attempts" doc:"The number of attempts since the delivery was created or last redelivered." example:"2"`
	NextAttemptAt *Instant       `json:"nextAttemptAt" format:"date-time" doc:"When the next attempt is due, unless deliveries are held because the receiver is failing; null if no attempt is planned." example:"2026-03-02T14:02:10.000Z"`
	CreatedAt     Instant        `json:"createdAt" format:"date-time" doc:"When the event happened." example:"2026-03-02T14:00:00.000Z"`
	EndedAt       *Instant       `json:"endedAt" format:"date-time" doc:"When the delivery reached its final status; null if it is still pending." example:"2026-03-02T14:00:00.100Z"`
}

// DeliveryDetail is a delivery with its attempts and its body.
type DeliveryDetail struct {
	Delivery
	Log  []DeliveryAttempt `json:"log" doc:"The last twenty attempts."`
	Body string            `json:"body" doc:"The request body, identical in every attempt." example:"{\"id\":\"itg_01jb2m3n4p5q6r7s8t9v0w1x2y:v42\"}"`
}

// DeliveryAttempt is one attempt to send a delivery.
type DeliveryAttempt struct {
	At         Instant `json:"at" format:"date-time" doc:"When the attempt started." example:"2026-03-02T14:00:00.000Z"`
	Duration   int64   `json:"durationMs" doc:"How long the attempt took, in milliseconds." example:"180"`
	HTTPStatus *int    `json:"httpStatus" doc:"The HTTP status of the response; null if there was none." example:"503"`
	Outcome    string  `json:"outcome" doc:"A description of the attempt's result." example:"HTTP 503"`
	Answer     string  `json:"answer" doc:"The first kilobyte of the response's body." example:"try again later"`
}

// AttemptsKept is the maximum number of attempts that are stored for a delivery.
const AttemptsKept = 20

// Describe appends the next step to the delivery's reason, and moves NextAttemptAt to the end
// of a pause. Held means that deliveries to the receiver are held, because it is failing or
// asked for a pause. Until is the end of a pause that the receiver requested; 0 for none.
func (d *Delivery) Describe(now Instant, held bool, until Instant) {
	next := ""
	switch {
	case d.NextAttemptAt == nil:
	case held && until > max(now, *d.NextAttemptAt) && d.Type != KindWebhookTest:
		d.NextAttemptAt = &until
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

// DeliveryQuota holds the number of an organization's deliveries on one day and the
// limit.
type DeliveryQuota struct {
	ID    string `json:"organizationId" doc:"The id of the organization." example:"org_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Plan  Plan   `json:"plan" doc:"The organization's plan." example:"team"`
	Day   string `json:"day" format:"date" doc:"The day, in UTC." example:"2026-03-02"`
	Used  int    `json:"used" doc:"The number of webhook deliveries created for the organization on that day." example:"120"`
	Limit int    `json:"limit" doc:"The plan's daily limit. Deliveries beyond it are skipped." example:"10000"`
}

// Outgoing is the body of a delivery. It holds only identifiers, dates and
// other simple values.
type Outgoing struct {
	ID           string  `json:"id" doc:"The delivery's id, the same in every attempt. Use it to discard duplicates." example:"itg_01jb2m3n4p5q6r7s8t9v0w1x2y:v42"`
	Type         Kind    `json:"type" doc:"The kind of event." kinds:"webhook" example:"card.created"`
	Format       string  `json:"format" doc:"The version of this format." example:"service-webhook/1"`
	OccurredAt   Instant `json:"occurredAt" format:"date-time" doc:"When the event happened." example:"2026-03-02T14:00:00.000Z"`
	WorkspaceID  string  `json:"workspaceId" doc:"The id of the workspace." example:"wsp_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	BoardID      *string `json:"boardId" doc:"The id of the board; null for a test of a workspace webhook." example:"brd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	BoardVersion int64   `json:"boardVersion" doc:"The boardVersion after the change. Use it to order deliveries and to detect gaps." example:"42"`
	Actor        Actor   `json:"actor" doc:"The actor that caused the event."`
	Data         any     `json:"data" doc:"The event's data. Its fields depend on the kind of event."`
	Links        Links   `json:"links" doc:"URLs of the affected objects in the REST API. Reading them requires an API token."`
}

// Links holds absolute URLs of the REST API.
type Links struct {
	Board *string `json:"board" doc:"The URL of the board; null if there is none." example:"https://cardwall.example.com/api/public/v1/boards/brd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Card  *string `json:"card" doc:"The URL of the card; null if the event does not concern a card." example:"https://cardwall.example.com/api/public/v1/cards/crd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Lists *string `json:"lists" doc:"The URL of the board's lists; null if there is no board." example:"https://cardwall.example.com/api/public/v1/boards/brd_01jb2m3n4p5q6r7s8t9v0w1x2y/lists"`
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

// DeliveryID returns a delivery id made from a new identifier and the boardVersion.
func DeliveryID(fresh string, boardVersion int64) string {
	return fmt.Sprintf("%s:v%d", fresh, boardVersion)
}

// DeliveryEffect is the effect of a finished delivery on its webhook.
type DeliveryEffect struct {
	Delivered bool
	Counts    bool // a failure that counts toward MaxWebhookFailures
	Gone      bool // the receiver responded with 410 (RFC 9110, 15.5.11)
	OwnerLost bool // the owner may no longer manage the webhook's board or workspace
}

// After returns the number of consecutive failures of the webhook after the
// delivery. It also returns the reason to disable the webhook, or "" to keep it on.
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
	case e.Counts && failures == MaxWebhookFailures:
		return failures, OffFailures
	}
	return failures, ""
}
