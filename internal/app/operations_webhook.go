package app

import (
	"cardwall/internal/board"
	"cardwall/internal/op"
)

// hooksPromoted marks the operations for webhooks that only the pages used at first.
var hooksPromoted = op.Promoted("2026-11-28")

func registerWebhooks(r *op.Registry) {
	r.In("Webhooks", "Events sent to a URL as signed requests.")
	op.Command(r, "create_webhook", "POST /webhooks",
		"Subscribe a URL to the events of a board, or of every board that the whole workspace can see. The "+
			"response contains the signing secret, which is shown only once.",
		CreateWebhook, op.Admin, op.Recent, op.Creates, op.Secret, op.NoTool)
	op.Query(r, "list_webhooks", "GET /webhooks",
		"List the webhooks of a workspace that the caller manages. Only the host and the last four characters "+
			"of each URL are shown.",
		ListWebhooks, op.Admin, op.NoTool)
	op.Command(r, "delete_webhook", "DELETE /webhooks/{webhookId}",
		"Delete a webhook and its delivery log.", DeleteWebhook, op.Admin, op.NoTool)
	op.Query(r, "get_webhook_sample", "GET /webhooks/samples/{event}",
		"Get a sample delivery for a kind of event. Automation platforms can show it in their workflow editors.",
		GetWebhookSample, op.Admin, op.NoTool)
	op.Query(r, "get_webhook", "GET /webhooks/{webhookId}", "Get a webhook.", GetWebhook, op.Admin, op.NoTool, hooksPromoted)
	op.Command(r, "update_webhook", "PATCH /webhooks/{webhookId}",
		"Change a webhook's name, URL, events, filters or headers.", UpdateWebhook, op.Admin, op.NoTool, hooksPromoted)
	op.Query(r, "get_webhook_health", "GET /webhooks/{webhookId}/health",
		"Get the success rate, the response times and the last errors of a webhook's attempts in the last 24 hours.",
		GetWebhookHealth, op.Admin, op.NoTool)
	op.Command(r, "pause_webhook", "POST /webhooks/{webhookId}/pause",
		"Disable a webhook. Pending deliveries are skipped.", PauseWebhook, op.Admin, op.NoTool, hooksPromoted)
	op.Command(r, "enable_webhook", "POST /webhooks/{webhookId}/enable",
		"Send a test event, and enable the webhook if the receiver accepts it. Enabling the webhook resets its failure "+
			"count and makes the caller its owner. Returns the delivery of the test event.",
		EnableWebhook, op.Admin, op.NoTool, hooksPromoted)
	op.Command(r, "test_webhook", "POST /webhooks/{webhookId}/test",
		"Send a test event, even while the webhook is disabled. There is only one attempt.",
		TestWebhook, op.Admin, op.NoTool, hooksPromoted)
	op.Command(r, "rotate_webhook_secret", "POST /webhooks/{webhookId}/rotate-secret",
		"Create a new signing secret for a webhook. The response contains the secret, which is shown only once. "+
			"For 24 hours, deliveries are signed with both the new and the previous secret.",
		RotateWebhookSecret, op.Admin, op.Recent, op.Secret, op.NoTool, hooksPromoted)
	op.Query(r, "list_deliveries", "GET /webhooks/{webhookId}/deliveries",
		"List a webhook's deliveries of the last 30 days, newest first. At most the last 100 are kept.",
		ListDeliveries, op.Admin, op.NoTool, hooksPromoted)
	op.Command(r, "redeliver_many", "POST /webhooks/{webhookId}/redeliver",
		"Resend those of a webhook's deliveries whose status is failed, gave up or skipped. The other fields select among them, "+
			"for example all since a time. "+
			"Each one counts against the daily limit again.",
		RedeliverMany, op.Admin, op.NoTool, hooksPromoted)
	op.Query(r, "get_delivery", "GET /deliveries/{deliveryId}",
		"Get a delivery with its attempts and its body.", GetDelivery, op.Admin, op.NoTool, hooksPromoted)
	op.Command(r, "redeliver", "POST /deliveries/{deliveryId}/redeliver",
		"Resend a delivery whose status is failed, gave up or skipped. It counts against the daily limit again.",
		Redeliver, op.Admin, op.NoTool, hooksPromoted)
	op.Query(r, "get_delivery_quota", "GET /workspaces/{workspaceId}/delivery-quota",
		"Get the number of today's webhook deliveries in the workspace's organization, and the daily limit.",
		GetDeliveryQuota, op.Admin, op.NoTool, hooksPromoted)
	for _, kind := range board.WebhookKinds() {
		sample, _ := board.SampleOf(kind, "https://cardwall.example.com")
		r.Event(string(kind), kind.When(), sample, board.DataOf(kind))
	}
}
