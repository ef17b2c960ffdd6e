package board

import (
	"hash/fnv"
	"slices"
	"strings"
	"time"
)

// APIPath is where the public interface begins below the base address.
const APIPath = "/api/public/v1"

// MCPPath is where assistants find the tools, below the base address.
const MCPPath = "/mcp"

// WebhookFormat is the version of the bodies that webhooks carry.
const WebhookFormat = "service-webhook/1"

// The numbers of webhooks.
const (
	SecretOverlap       = 24 * time.Hour      // how long an old signing secret is still signed with
	DeliveriesKept      = 100                 // of a webhook, in its log
	DeliveryLifetime    = 30 * 24 * time.Hour // of a delivery in the log
	FailuresToSwitchOff = 10                  // failed deliveries in a row
	WebhookShards       = 64                  // parts of all webhooks, each looked after by one server at a time
)

// WebhookKinds are all kinds that a webhook can be subscribed to, in the order
// of the reference. The test event comes unasked too.
func WebhookKinds() []Kind {
	return []Kind{
		KindCardCreated, KindCardUpdated, KindCardMoved, KindCardCompleted, KindCardReopened, KindCardArchived, KindCardRestored,
		KindCardAssigneesChanged, KindCardLabelsChanged, KindCardDueDateChanged, KindCommentAdded, KindItemCompleted,
		KindListCreated, KindListArchived, KindStatusPosted, KindWebhookTest,
	}
}

// When says in a sentence when an event of the kind is sent; empty for a kind
// that no webhook hears of.
func (k Kind) When() string {
	return map[Kind]string{
		KindCardCreated:          "A card is created.",
		KindCardUpdated:          "A card's title or description changes.",
		KindCardMoved:            "A card moves to another list.",
		KindCardCompleted:        "A card is marked done.",
		KindCardReopened:         "A card is marked not done.",
		KindCardArchived:         "A card is archived.",
		KindCardRestored:         "A card is restored.",
		KindCardAssigneesChanged: "People are added to or removed from a card.",
		KindCardLabelsChanged:    "Labels are put on or taken off a card.",
		KindCardDueDateChanged:   "A card's due date or start changes.",
		KindCommentAdded:         "Someone comments on a card.",
		KindItemCompleted:        "An item of a checklist is done.",
		KindListCreated:          "A list is created.",
		KindListArchived:         "A list is archived.",
		KindStatusPosted:         "A board gets a status update.",
		KindWebhookTest:          "A person sends a test event.",
	}[k]
}

// Off is why a webhook sends nothing; empty while it is on.
type Off string

// The reasons for a webhook to be off.
const (
	OffNot      Off = ""
	OffPaused   Off = "paused"   // by a person
	OffFailures Off = "failures" // ten failed deliveries in a row
	OffGone     Off = "gone"     // the receiver answered 410
	OffOwner    Off = "owner"    // its owner can no longer manage what it covers
	OffPlan     Off = "plan"     // its board or workspace was restored, and the plan has no room for it
	OffTrash    Off = "trash"    // its board is in the trash; never stored
)

// Platform is the automation service that a webhook belongs to.
type Platform string

// The platforms that are recognized.
const (
	PlatformZapier        Platform = "zapier"
	PlatformMake          Platform = "make"
	PlatformN8N           Platform = "n8n"
	PlatformPipedream     Platform = "pipedream"
	PlatformPowerAutomate Platform = "power_automate"
)

// PlatformOf recognizes a platform by the User-Agent of who subscribes, or by
// the host of the address; empty for none.
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
		{PlatformPowerAutomate, []string{"microsoft-flow", "azure-logic-apps", "powerautomate"}, []string{"logic.azure.com", "powerplatform.com", "powerautomate.com"}},
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

// Webhook is a subscription to events. Its address and its secrets are no part
// of it: they are sealed, and nobody reads them again.
type Webhook struct {
	ID             string    `json:"id" doc:"The webhook's id." example:"whk_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Name           string    `json:"name" doc:"The display name." example:"Deploy bot"`
	WorkspaceID    string    `json:"workspaceId" doc:"The workspace it belongs to." example:"wsp_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	BoardID        *string   `json:"boardId" doc:"The board whose events it sends; null for every board that the whole workspace can see." example:"brd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Events         []Kind    `json:"events" doc:"The kinds of events it sends." example:"[\"card.created\"]"`
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

// WebhookSecret is a webhook with its signing secret, in the answer that made
// the secret and nowhere else.
type WebhookSecret struct {
	Webhook
	Secret string `json:"secret" doc:"The signing secret: whsec_ and 32 bytes in base64. It is shown only once." example:"whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"`
}

// WebhookShard is the part of all webhooks that one belongs to.
func WebhookShard(webhookID string) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(webhookID)) // a hash never fails
	return int(h.Sum32() % WebhookShards)
}

// Covers tells whether a person with these roles may have a webhook that sends
// the events of a board, and so whether one of theirs goes on sending them. The
// board is nil when it is about every board that the whole workspace sees.
func Covers(wholeWorkspace bool, inWorkspace WorkspaceRole, onBoard Role, v Visibility) bool {
	if wholeWorkspace {
		return inWorkspace.Can(ManageMembers)
	}
	return RoleOn(inWorkspace, onBoard, v).Can(Administer)
}

// WebhookRef is what a test event carries.
type WebhookRef struct {
	WebhookID string `json:"webhookId" doc:"The webhook." example:"whk_01jb2m3n4p5q6r7s8t9v0w1x2y"`
}
