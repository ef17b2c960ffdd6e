package app

import "cardwall/internal/op"

func registerNotifications(r *op.Registry) {
	r.In("Notifications", "Messages to people about changes, and the settings for these messages.")
	op.Query(r, "list_notifications", "GET /notifications",
		"List the caller's notifications, newest first. Notifications about boards that "+
			"the caller can no longer see are omitted.",
		ListNotifications, op.SignedIn)
	op.Query(r, "get_notification_count", "GET /notification-count",
		"Count the caller's unread notifications.", GetNotificationCount, op.SignedIn)
	op.Command(r, "mark_notification", "PATCH /notifications/{notificationId}",
		"Mark a notification as read or unread.", MarkNotification, op.SignedIn)
	op.Command(r, "mark_all_notifications", "POST /notifications/read",
		"Mark all notifications as read, or all up to a given one.", MarkAllNotifications, op.SignedIn, op.InSlices(markInSlices))
	op.Query(r, "get_notification_settings", "GET /notification-settings",
		"Get the caller's notification settings.", GetNotificationSettings, op.SignedIn)
	op.Command(r, "set_notification_settings", "PUT /notification-settings",
		"Replace the caller's notification settings.", SetNotificationSettings, op.SignedIn)
	op.Command(r, "unsubscribe", "POST /unsubscribe",
		"Stop sending notification emails to a person. The token comes from the unsubscribe link in one of the emails.",
		Unsubscribe, op.Anonymous)
	op.Command(r, "watch_board", "PUT /boards/{boardId}/watch",
		"Watch a board. The caller is notified of comments and status updates, and when a card is created, moved, completed, "+
			"reopened, archived or restored, or its due date changes.",
		WatchBoard, op.Application)
	op.Command(r, "unwatch_board", "DELETE /boards/{boardId}/watch",
		"Stop watching a board.", UnwatchBoard, op.Application)
	op.Query(r, "get_card_watch", "GET /cards/{cardId}/watch",
		"Get whether the caller watches a card, and whether the caller is notified of comments on it.", GetCardWatch, op.Application)
	op.Command(r, "watch_card", "PUT /cards/{cardId}/watch",
		"Watch a card. The caller is notified of comments on the card, and when the card is moved, completed, reopened, archived "+
			"or restored, or its due date changes.",
		WatchCard, op.Application)
	op.Command(r, "unwatch_card", "DELETE /cards/{cardId}/watch",
		"Stop watching a card. The caller is no longer notified of comments on the card and changes to it, even if the "+
			"caller watches the board, is assigned to the card or has commented on it.",
		UnwatchCard, op.Application)
}

func registerCalendarFeed(r *op.Registry) {
	r.In("Calendar feed", "A person's due dates for calendar programs.")
	op.Query(r, "get_calendar_feed", "GET /calendar-feed",
		"Get the caller's calendar feed. The response does not contain the feed's URL, which is shown only once.", GetCalendarFeed, op.SignedIn)
	op.Command(r, "create_calendar_feed", "POST /calendar-feed",
		"Create the caller's calendar feed, or replace its URL. The response contains the URL, which "+
			"is shown only once. The previous URL stops working. Requires a recent sign-in.",
		CreateCalendarFeed, op.SignedIn, op.Recent, op.Creates, op.Secret)
	op.Command(r, "update_calendar_feed", "PATCH /calendar-feed",
		"Change what the caller's calendar feed shows.", UpdateCalendarFeed, op.SignedIn)
	op.Command(r, "delete_calendar_feed", "DELETE /calendar-feed",
		"Delete the caller's calendar feed. Its URL stops working.", DeleteCalendarFeed, op.SignedIn)
}

func registerAudit(r *op.Registry) {
	r.In("Audit", "The record of who did what in a workspace, for its owners and admins.")
	op.Query(r, "list_audit_entries", "GET /workspaces/{workspaceId}/audit",
		"List the audit log of a workspace and its boards, newest first. For boards that the caller cannot "+
			"see, names and changed values are omitted.",
		ListAuditEntries, op.Admin, op.Application)
	op.Stream(r, "export_audit_csv", "GET /workspaces/{workspaceId}/audit.csv",
		"Export the audit log of a workspace as comma-separated values. Accepts the filters of "+
			"list_audit_entries.",
		ExportAuditCSV, op.Admin, op.Application, op.Media("text/csv"))
	op.Stream(r, "export_audit_ndjson", "GET /workspaces/{workspaceId}/audit.ndjson",
		"Export the audit log of a workspace as newline-delimited JSON. Accepts the filters of "+
			"list_audit_entries.",
		ExportAuditNDJSON, op.Admin, op.Application, op.Media("application/x-ndjson"))
}
