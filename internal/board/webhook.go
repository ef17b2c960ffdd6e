package board

import (
	"hash/fnv"
	"slices"
	"strings"
	"time"
)

// APIPath is the path of the public REST API, below the base URL.
const APIPath = "/api/public/v1"

// MCPPath is the path of the MCP server, below the base URL.
const MCPPath = "/mcp"

// WebhookFormat is the version of the webhook body format.
const WebhookFormat = "service-webhook/1"

// Limits of webhooks.
const (
	SecretOverlap      = 24 * time.Hour      // how long deliveries are also signed with the previous secret
	DeliveriesKept     = 100                 // deliveries in the log of each webhook
	DeliveryLifetime   = 30 * 24 * time.Hour // how long a delivery is kept in the log
	MaxWebhookFailures = 10                  // consecutive failed deliveries after which a webhook is disabled
	WebhookShards      = 64                  // partitions of all webhooks; one server at a time handles a partition
)

// Off is the reason why a webhook is off; empty if it is on.
type Off string

// The reasons why a webhook is off.
const (
	OffNone     Off = ""
	OffPaused   Off = "paused"   // paused by a person
	OffFailures Off = "failures" // ten consecutive failed deliveries
	OffGone     Off = "gone"     // the receiver responded with 410
	OffOwner    Off = "owner"    // its owner can no longer manage its board or workspace
	OffPlan     Off = "plan"     // when its board or workspace was restored, the plan allowed no more webhooks
	OffTrash    Off = "trash"    // its board is in the trash; never stored
)

// Platform is the automation platform that a webhook belongs to.
type Platform string

// The recognized platforms.
const (
	PlatformZapier        Platform = "zapier"
	PlatformMake          Platform = "make"
	PlatformN8N           Platform = "n8n"
	PlatformPipedream     Platform = "pipedream"
	PlatformPowerAutomate Platform = "power_automate"
)

// PlatformOf recognizes a platform by the subscriber's User-Agent or by the
// host of the URL. It returns "" for none.
func PlatformOf(userAgent, host string) Platform {
	products := strings.Fields(strings.ToLower(userAgent)) // RFC 9110, 10.1.5
	for _, p := range []struct {
		name   Platform
		agents []string
		hosts  []string
	}{
		{PlatformZapier, []string{"zapier"}, []string{"hooks.zapier.com"}},
		{PlatformMake, []string{"make/", "integromat"}, []string{"make.com", "integromat.com"}},
		{PlatformN8N, []string{"n8n"}, []string{"n8n.cloud"}},
		{PlatformPipedream, []string{"pipedream"}, []string{"pipedream.net"}},
		{PlatformPowerAutomate, []string{"microsoft-flow", "azure-logic-apps", "powerautomate"},
			[]string{"logic.azure.com", "powerplatform.com", "powerautomate.com"}},
	} {
		named := func(product string) bool {
			return slices.ContainsFunc(p.agents, func(s string) bool { return strings.HasPrefix(product, s) })
		}
		if slices.ContainsFunc(products, named) ||
			slices.ContainsFunc(p.hosts, func(s string) bool { return host == s || strings.HasSuffix(host, "."+s) }) {
			return p.name
		}
	}
	return ""
}

// Webhook is a subscription to events. Its URL, its secrets and the values of its headers are
// not part of it: they are stored encrypted. The URL and the values are never returned, and a
// secret only in a WebhookSecret.
type Webhook struct {
	ID          string  `json:"id" doc:"The webhook's id." example:"whk_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Name        string  `json:"name" doc:"The webhook's display name." example:"Deploy bot"`
	WorkspaceID string  `json:"workspaceId" doc:"The id of the workspace that the webhook belongs to." example:"wsp_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	BoardID     *string `json:"boardId" doc:"The id of the board whose events the webhook sends; null for every board that the whole workspace can see." example:"brd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Events      []Kind  `json:"events" doc:"The kinds of events that the webhook sends." kinds:"webhook" example:"[\"card.created\"]"`
	WebhookFilter
	HeaderNames    []string  `json:"headerNames" doc:"The names of the headers that are sent with each delivery. Their values are never returned." example:"[\"Authorization\"]"`
	On             bool      `json:"on" doc:"Whether the webhook is enabled." example:"true"`
	OffReason      *Off      `json:"offReason" enum:"paused,failures,gone,owner,plan,trash" doc:"Why the webhook is disabled. paused: a person disabled it. failures: ten deliveries in a row failed. gone: the receiver responded with 410. owner: the webhook's owner can no longer manage its board or workspace. plan: the plan allowed no more webhooks when its board or workspace was restored. trash: its board is in the trash. null if the webhook is enabled." example:"failures"`
	OffAt          *Instant  `json:"offAt" format:"date-time" doc:"When the webhook was disabled; null if it is enabled." example:"2026-03-02T09:00:00.000Z"`
	Failures       int       `json:"failures" doc:"The number of consecutive failed deliveries." example:"0"`
	HeldSince      *Instant  `json:"heldSince" format:"date-time" doc:"Since when deliveries are held, because the receiver is failing or asked for a pause; null if they are not held. Meanwhile, one delivery at a time is sent as a probe." example:"2026-03-02T09:00:00.000Z"`
	HeldUntil      *Instant  `json:"heldUntil" format:"date-time" doc:"The end of a pause that the receiver requested with 429, or with 503 and Retry-After; null if there is none. Nothing is sent until then." example:"2026-03-02T09:01:00.000Z"`
	Host           string    `json:"host" doc:"The host of the webhook's URL." example:"hooks.example.com"`
	LastFour       string    `json:"lastFour" doc:"The last four characters of the webhook's URL." example:"7f3a"`
	Platform       *Platform `json:"platform" enum:"zapier,make,n8n,pipedream,power_automate" doc:"The automation platform that the webhook belongs to; null if none was recognized." example:"zapier"`
	Warning        *string   `json:"warning" doc:"What the webhook's managers should know; null if there is nothing. At present, that another webhook sends some of the same events to the same URL." example:"Another webhook sends some of these events to the same URL, so its receiver gets them twice."`
	OwnerID        string    `json:"ownerId" doc:"The user id of the webhook's owner: the person who created it or last enabled it." example:"usr_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	OldSecretUntil *Instant  `json:"oldSecretUntil" format:"date-time" doc:"When deliveries stop being signed with the previous secret as well; null if they have only one signature." example:"2026-03-03T09:00:00.000Z"`
	CreatedAt      Instant   `json:"createdAt" format:"date-time" doc:"When the webhook was created." example:"2026-03-01T09:00:00.000Z"`
	UpdatedAt      Instant   `json:"updatedAt" format:"date-time" doc:"When a person last changed the webhook." example:"2026-03-01T09:00:00.000Z"`
}

// WebhookHasTwin is the warning of a webhook that sends the same events to the same URL as
// another one.
const WebhookHasTwin = "Another webhook sends some of these events to the same URL, so its receiver gets them twice."

// WebhookSecret is a webhook with its signing secret. Only the operation that
// creates the secret returns it.
type WebhookSecret struct {
	Webhook
	Secret string `json:"secret" doc:"The signing secret: whsec_ followed by 32 bytes in base64. It is shown only once." example:"whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"`
}

// WebhookShard returns the shard of a webhook.
func WebhookShard(webhookID string) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(webhookID)) // never fails
	return int(h.Sum32() % WebhookShards)
}

// CanOwnWebhook reports whether a person with these roles may own a webhook for the
// events of a board. The sender checks this again before each delivery. WholeWorkspace
// means that the webhook covers every board that all members of the workspace can see.
func CanOwnWebhook(wholeWorkspace bool, inWorkspace WorkspaceRole, onBoard Role, v Visibility) bool {
	if wholeWorkspace {
		return inWorkspace.Can(ManageMembers)
	}
	return RoleOn(inWorkspace, onBoard, v).Can(Administer)
}

// WebhookRef is the data of a test event.
type WebhookRef struct {
	WebhookID string `json:"webhookId" doc:"The id of the webhook." example:"whk_01jb2m3n4p5q6r7s8t9v0w1x2y"`
}
