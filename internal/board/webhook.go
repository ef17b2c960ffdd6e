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

// WebhookFormat is the version of the format of webhook bodies.
const WebhookFormat = "service-webhook/1"

// Limits of webhooks.
const (
	SecretOverlap       = 24 * time.Hour      // how long deliveries are still signed with the old secret
	DeliveriesKept      = 100                 // per webhook, in its log
	DeliveryLifetime    = 30 * 24 * time.Hour // of a delivery in the log
	FailuresToSwitchOff = 10                  // consecutive failed deliveries
	WebhookShards       = 64                  // partitions of all webhooks; each is handled by one server at a time
)

// Off is the reason why a webhook is off; empty if it is on.
type Off string

// The reasons why a webhook is off.
const (
	OffNot      Off = ""
	OffPaused   Off = "paused"   // paused by a person
	OffFailures Off = "failures" // ten consecutive failed deliveries
	OffGone     Off = "gone"     // the receiver responded with 410
	OffOwner    Off = "owner"    // its owner can no longer manage its board or workspace
	OffPlan     Off = "plan"     // when its board or workspace was restored, the plan had no room for it
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

// Webhook is a subscription to events. Its URL and its secrets are not part of
// it: they are stored encrypted and never returned.
type Webhook struct {
	ID             string    `json:"id" doc:"The webhook's id." example:"whk_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Name           string    `json:"name" doc:"The display name." example:"Deploy bot"`
	WorkspaceID    string    `json:"workspaceId" doc:"The workspace it belongs to." example:"wsp_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	BoardID        *string   `json:"boardId" doc:"The board whose events it sends; null for every board that the whole workspace can see." example:"brd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Events         []Kind    `json:"events" doc:"The kinds of events it sends." kinds:"webhook" example:"[\"card.created\"]"`
	On             bool      `json:"on" doc:"Whether the webhook is on." example:"true"`
	OffReason      *Off      `json:"offReason" enum:"paused,failures,gone,owner,plan,trash" doc:"Why the webhook is off: a person paused it, ten deliveries in a row failed, the receiver responded with 410, its owner can no longer manage its board or workspace, its plan had no room for it when its board or workspace was restored, or its board is in the trash. null if it is on." example:"failures"`
	OffAt          *Instant  `json:"offAt" format:"date-time" doc:"When it was switched off; null if it is on." example:"2026-03-02T09:00:00.000Z"`
	Failures       int       `json:"failures" doc:"The number of consecutive failed deliveries." example:"0"`
	HeldSince      *Instant  `json:"heldSince" format:"date-time" doc:"Since when deliveries are held because the receiver fails or asked for a pause. One delivery at a time is sent as a probe. null if deliveries are not held." example:"2026-03-02T09:00:00.000Z"`
	HeldUntil      *Instant  `json:"heldUntil" format:"date-time" doc:"Until when nothing is sent because the receiver asked for a pause, with 429 or with Retry-After on 503; null for no pause." example:"2026-03-02T09:01:00.000Z"`
	Host           string    `json:"host" doc:"The host of its URL." example:"hooks.example.com"`
	LastFour       string    `json:"lastFour" doc:"The last four characters of its URL." example:"7f3a"`
	Platform       *Platform `json:"platform" enum:"zapier,make,n8n,pipedream,power_automate" doc:"The automation platform that it belongs to, if any." example:"zapier"`
	OwnerID        string    `json:"ownerId" doc:"The owner: the person who created it or last switched it on." example:"usr_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	OldSecretUntil *Instant  `json:"oldSecretUntil" format:"date-time" doc:"Until when deliveries are also signed with the previous secret; null if they have one signature." example:"2026-03-03T09:00:00.000Z"`
	CreatedAt      Instant   `json:"createdAt" format:"date-time" doc:"When it was created." example:"2026-03-01T09:00:00.000Z"`
	UpdatedAt      Instant   `json:"updatedAt" format:"date-time" doc:"When a person last changed it." example:"2026-03-01T09:00:00.000Z"`
}

// WebhookSecret is a webhook with its signing secret. It is only returned by
// the operation that created the secret.
type WebhookSecret struct {
	Webhook
	Secret string `json:"secret" doc:"The signing secret: whsec_ and 32 bytes in base64. It is shown only once." example:"whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"`
}

// WebhookShard returns the shard of a webhook.
func WebhookShard(webhookID string) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(webhookID)) // a hash never fails
	return int(h.Sum32() % WebhookShards)
}

// Covers reports whether a person with these roles may own a webhook for the
// events of a board. It is checked again before each delivery. WholeWorkspace
// means that the webhook covers every board that the whole workspace can see.
func Covers(wholeWorkspace bool, inWorkspace WorkspaceRole, onBoard Role, v Visibility) bool {
	if wholeWorkspace {
		return inWorkspace.Can(ManageMembers)
	}
	return RoleOn(inWorkspace, onBoard, v).Can(Administer)
}

// WebhookRef is the data of a test event.
type WebhookRef struct {
	WebhookID string `json:"webhookId" doc:"The webhook." example:"whk_01jb2m3n4p5q6r7s8t9v0w1x2y"`
}
