package app

import (
	"cardwall/internal/board"
	"cardwall/internal/op"
)

// Operations are all operations: of the public interface, in the order of the
// reference, and of the application alone.
func Operations() *op.Registry {
	r := op.NewRegistry()

	r.In("Account", "The owner of the token.")
	op.Query(r, "get_me", "GET /me", "Get the token's owner. Answers the account and, under token, what the token itself may do.", GetMe)
	op.Query(r, "list_my_cards", "GET /me/cards", "List the cards assigned to the token's owner. Takes the filters of list_cards, and workspaceId.", ListMyCards)
	op.Query(r, "get_my_overview", "GET /me/overview", "Get what is on the caller's desk. Cards overdue, due today, due this week and recently assigned, and boards with their latest status; of each how many, and the first five.", GetMyOverview)
	op.Query(r, "list_recent_activity", "GET /me/activity", "List what happened on every board that the caller sees, newest first.", ListRecentActivity)

	op.Query(r, "get_home", "GET /home", "Get the caller's workspaces with their boards, favourites and last looks.", GetHome, op.Application)

	r.In("Workspaces", "Where people share boards.")
	op.Query(r, "list_workspaces", "GET /workspaces", "List the workspaces that the caller is in.", ListWorkspaces)
	op.Query(r, "get_workspace", "GET /workspaces/{workspaceId}", "Get a workspace.", GetWorkspace)
	op.Query(r, "list_workspace_members", "GET /workspaces/{workspaceId}/members", "List the people of a workspace. Guests may not; e-mail addresses are shown to owners and admins.", ListWorkspaceMembers)
	op.Query(r, "get_workspace_calendar", "GET /workspaces/{workspaceId}/calendar", "Get the cards of a window of days. Every card, done or not, whose span from start to due date touches the window, on boards whose feature calendar is on; a window that holds more than 5,000 cards is refused with limit_reached.", GetWorkspaceCalendar)
	op.Query(r, "get_workspace_dashboard", "GET /workspaces/{workspaceId}/dashboard", "Get how a workspace is doing. Counts cards of the open boards and lists that the caller sees.", GetWorkspaceDashboard)
	op.Command(r, "create_invitation", "POST /workspaces/{workspaceId}/invitations", "Invite an address to a workspace, or renew its open invitation. A letter with a link goes to it, one in five minutes at most; the invitation ends after 14 days.", CreateInvitation, op.Admin, op.Creates)
	op.Query(r, "list_invitations", "GET /workspaces/{workspaceId}/invitations", "List the open invitations of a workspace. Expired ones too, until they are renewed or withdrawn.", ListInvitations, op.Admin)
	op.Query(r, "look_at_invitation", "POST /invitation", "Look at the invitation that a link's secret stands for. It is sent in the body, so that it is in no log.", LookAtInvitation, op.Anonymous)
	op.Command(r, "accept_invitation", "POST /invitation/accept", "Accept an invitation by the secret of its link. Accepting it twice is no mistake.", JoinByLink, op.SignedIn)
	op.Command(r, "create_workspace", "POST /workspaces", "Create a workspace with an organization of its own. The caller becomes its owner.", CreateWorkspace, op.SignedIn, op.Creates)
	op.Command(r, "update_workspace", "PATCH /workspaces/{workspaceId}", "Change a workspace's name.", UpdateWorkspace, op.SignedIn)
	op.Command(r, "delete_workspace", "DELETE /workspaces/{workspaceId}", "Move a workspace to the trash. Nobody reaches it any more; it is kept for 30 days, in which an owner can restore it, then gone for good with its boards. Needs an owner and a recent sign-in.", DeleteWorkspace, op.Recent, op.Destructive)
	op.Command(r, "restore_workspace", "POST /workspaces/{workspaceId}/restore", "Restore a workspace from the trash, with its people as they were. Needs one of its owners.", RestoreWorkspace, op.SignedIn)
	op.Command(r, "change_member", "PUT /workspaces/{workspaceId}/members/{userId}", "Give a person of a workspace another role. Only owners change owners, and the last one stays.", ChangeMember, op.SignedIn)
	op.Command(r, "remove_member", "DELETE /workspaces/{workspaceId}/members/{userId}", "Take a person out of a workspace, or leave it. The person's roles on boards, assignments and tokens for the workspace end; what the person made stays.", RemoveMember, op.SignedIn, op.Destructive)
	op.Command(r, "withdraw_invitation", "DELETE /workspaces/{workspaceId}/invitations/{invitationId}", "Withdraw an invitation. Its link stops working.", WithdrawInvitation, op.Admin, op.Destructive)

	r.In("Boards", "Walls of lists.")
	op.Query(r, "list_boards", "GET /boards", "List the boards that the caller sees. In one workspace or in all; archived ones only when asked for.", ListBoards)
	op.Query(r, "get_board", "GET /boards/{boardId}", "Get a board with its lists, labels, features and limits.", GetBoard)
	op.Command(r, "create_board", "POST /boards", "Create a board in a workspace. The caller becomes its admin.", CreateBoard, op.Creates)
	op.Command(r, "update_board", "PATCH /boards/{boardId}", "Change a board's name, description, colour, visibility or features. Visibility and features need a board admin.", UpdateBoard)
	op.Command(r, "archive_board", "POST /boards/{boardId}/archive", "Archive a board. It can be read, not changed, until it is restored.", ArchiveBoard)
	op.Command(r, "restore_board", "POST /boards/{boardId}/restore", "Restore a board from the archive or the trash.", RestoreBoard)
	op.Command(r, "trash_board", "DELETE /boards/{boardId}", "Move a board to the trash. It is kept for 30 days, in which a board admin can restore it, then gone for good.", TrashBoard, op.Admin, op.Destructive)
	op.Command(r, "copy_board", "POST /boards/{boardId}/copy", "Copy a board with its labels and open lists and, when asked for, its open cards. Members are not copied; the caller becomes the copy's admin. A copy sends no events.", CopyBoard, op.Creates)
	op.Command(r, "save_board_as_template", "POST /boards/{boardId}/template", "Save a board as a template of its workspace. A template keeps features, labels, open lists and, when asked for, open cards, without people and dates. A confidential board makes none.", SaveBoardAsTemplate, op.Creates)
	op.Query(r, "list_board_templates", "GET /board-templates", "List the built-in templates and those of a workspace.", ListBoardTemplates)
	op.Command(r, "create_board_from_template", "POST /board-templates/{templateId}/boards", "Create a board from a template. The caller becomes its admin. Like a copy it sends no events.", CreateBoardFromTemplate, op.Creates)
	op.Query(r, "list_board_members", "GET /boards/{boardId}/members", "List the people who see a board, with their roles.", ListBoardMembers)
	op.Command(r, "share_board", "PUT /boards/{boardId}/members/{userId}", "Share a board with a person of its workspace, or change the person's role on it.", ShareBoard, op.Admin)
	op.Command(r, "remove_board_member", "DELETE /boards/{boardId}/members/{userId}", "Take a person's role on a board away. Who no longer sees the board is taken off its cards.", RemoveBoardMember, op.Admin, op.Destructive)
	op.Query(r, "list_board_activity", "GET /boards/{boardId}/activity", "List what happened on a board, or to one card of it, newest first.", ListBoardActivity)
	op.Query(r, "list_board_changes", "GET /boards/{boardId}/changes", "List what changed on a board after a boardVersion, in order. A receiver closes a gap with it.", ListBoardChanges)
	op.Query(r, "list_status_updates", "GET /boards/{boardId}/status-updates", "List what was said of how a board is doing, newest first.", ListStatusUpdates)
	op.Command(r, "post_status_update", "POST /boards/{boardId}/status-updates", "Say how a board is doing. Keeps the board's figures of the moment beside it; it cannot be changed afterwards.", PostStatusUpdate, op.Creates)

	op.Query(r, "open_board", "GET /boards/{boardId}/open", "Get all that a client needs to show a board. Its lists, labels, members and open cards, all of one version.", ReadOpenBoard, op.Application)
	op.Command(r, "star_board", "PUT /boards/{boardId}/star", "Make a board a favourite of the caller.", StarBoard, op.Application)
	op.Command(r, "set_collapsed_lists", "PUT /boards/{boardId}/collapsed-lists", "Note which lists of a board the caller has collapsed.", SetCollapsedLists, op.Application)
	op.Command(r, "unstar_board", "DELETE /boards/{boardId}/star", "Make a board no favourite of the caller any more.", UnstarBoard, op.Application)
	op.Query(r, "list_trashed_boards", "GET /workspaces/{workspaceId}/trash", "List the boards in a workspace's trash that the caller may restore.", ListTrashedBoards, op.Application)

	r.In("Lists", "The columns of a board.")
	op.Query(r, "list_lists", "GET /boards/{boardId}/lists", "List the lists of a board in their order.", ListLists)
	op.Command(r, "create_list", "POST /boards/{boardId}/lists", "Create a list on a board.", CreateList, op.Creates)
	op.Command(r, "update_list", "PATCH /lists/{listId}", "Change a list's name or WIP limit.", UpdateList)
	op.Command(r, "move_list", "POST /lists/{listId}/move", "Move a list to another place on its board.", MoveList)
	op.Command(r, "move_list_to_board", "POST /lists/{listId}/move-to-board", "Move a list with all its cards to another board. Labels are matched by name and colour; the answer says which labels and assignees had to be dropped.", MoveListToBoard)
	op.Command(r, "copy_list", "POST /lists/{listId}/copy", "Copy a list with its open cards on its board. The copies are not done.", CopyList, op.Creates)
	op.Command(r, "archive_list", "POST /lists/{listId}/archive", "Archive a list with the cards in it.", ArchiveList)
	op.Command(r, "restore_list", "POST /lists/{listId}/restore", "Restore an archived list with the cards in it.", RestoreList)

	r.In("Cards", "Pieces of work.")
	op.Query(r, "list_cards", "GET /boards/{boardId}/cards", "List the cards of a board. Different filters must all hold; a comma within one means or.", ListCards)
	op.Query(r, "get_card", "GET /cards/{cardId}", "Get a card with its checklists.", GetCard)
	op.Command(r, "create_card", "POST /cards", "Create a card in a list.", CreateCard, op.Creates)
	op.Command(r, "update_card", "PATCH /cards/{cardId}", "Change a card's title or description, or whether it is done.", UpdateCard)
	op.Command(r, "move_card", "POST /cards/{cardId}/move", "Move a card to a place in a list of its own board.", MoveCard)
	op.Command(r, "move_card_to_board", "POST /cards/{cardId}/move-to-board", "Move a card to a list of another board. It keeps its id and gets a number of that board. Labels are matched by name and colour; the answer says which labels and assignees had to be dropped.", MoveCardToBoard)
	op.Command(r, "copy_card", "POST /cards/{cardId}/copy", "Copy a card on its board or to another one. The copy is not done. A copy on another board sends no events.", CopyCard, op.Creates)
	op.Command(r, "archive_card", "POST /cards/{cardId}/archive", "Archive a card.", ArchiveCard)
	op.Command(r, "restore_card", "POST /cards/{cardId}/restore", "Restore an archived card to its list.", RestoreCard)
	op.Command(r, "set_card_labels", "PATCH /cards/{cardId}/labels", "Put labels on a card and take others off. Answers the labels it then carries.", SetCardLabels)
	op.Command(r, "set_card_assignees", "PATCH /cards/{cardId}/assignees", "Assign a card to people and take others off. Answers who is then assigned.", SetCardAssignees)
	op.Command(r, "set_card_due", "PUT /cards/{cardId}/due", "Set when a card is due and when its work starts. Replaces both; a time of day needs a time zone.", SetCardDue)
	op.Command(r, "clear_card_due", "DELETE /cards/{cardId}/due", "Take due date and start away from a card.", ClearCardDue)
	op.Query(r, "list_checklists", "GET /cards/{cardId}/checklists", "List the checklists of a card with their items.", ListChecklists)
	op.Command(r, "add_checklist", "POST /cards/{cardId}/checklists", "Add a checklist to a card, with items if there are any yet.", AddChecklist, op.Creates)
	op.Command(r, "update_checklist", "PATCH /checklists/{checklistId}", "Change a checklist's title.", UpdateChecklist)
	op.Command(r, "delete_checklist", "DELETE /checklists/{checklistId}", "Delete a checklist with its items.", DeleteChecklist, op.Destructive)
	op.Command(r, "add_checklist_item", "POST /checklists/{checklistId}/items", "Add an item to a checklist.", AddChecklistItem, op.Creates)
	op.Command(r, "update_checklist_item", "PATCH /checklist-items/{itemId}", "Change an item's title, whether it is done, or its place.", UpdateChecklistItem)
	op.Command(r, "delete_checklist_item", "DELETE /checklist-items/{itemId}", "Delete an item of a checklist.", DeleteChecklistItem, op.Destructive)

	r.In("Comments", "What people say on cards.")
	op.Query(r, "list_comments", "GET /cards/{cardId}/comments", "List the comments of a card, oldest first.", ListComments)
	op.Command(r, "add_comment", "POST /cards/{cardId}/comments", "Comment on a card.", AddComment, op.Creates)
	op.Command(r, "edit_comment", "PATCH /comments/{commentId}", "Change the text of one's own comment.", EditComment)
	op.Command(r, "delete_comment", "DELETE /comments/{commentId}", "Delete one's own comment; a board admin deletes any.", DeleteComment, op.Destructive)

	r.In("Labels", "Coloured words of a board.")
	op.Query(r, "list_labels", "GET /boards/{boardId}/labels", "List the labels of a board by name.", ListLabels)
	op.Command(r, "create_label", "POST /boards/{boardId}/labels", "Create a label on a board.", CreateLabel, op.Creates)
	op.Command(r, "update_label", "PATCH /labels/{labelId}", "Change a label's name or colour.", UpdateLabel)
	op.Command(r, "delete_label", "DELETE /labels/{labelId}", "Delete a label, also from the cards that carry it.", DeleteLabel, op.Destructive)

	r.In("Search and saved filters", "Queries, and those that people keep.")
	op.Query(r, "search_cards", "GET /search", "Search cards on every board that the caller sees. What changed last comes first.", SearchCards, op.Search, op.Echoes[SearchedQuery])
	op.Query(r, "list_saved_filters", "GET /saved-filters", "List the saved filters of a workspace that the caller sees. One's own and those that members share; guests see their own.", ListSavedFilters)
	op.Command(r, "create_saved_filter", "POST /saved-filters", "Save a query as a filter, for oneself or shared with the workspace.", CreateSavedFilter, op.Creates)
	op.Command(r, "update_saved_filter", "PATCH /saved-filters/{filterId}", "Change a saved filter's name or query, or whether it is shared. Owners and admins of the workspace change those that are shared.", UpdateSavedFilter)
	op.Command(r, "delete_saved_filter", "DELETE /saved-filters/{filterId}", "Delete a saved filter. Owners and admins of the workspace delete those that are shared.", DeleteSavedFilter, op.Destructive)
	op.Query(r, "list_filter_cards", "GET /saved-filters/{filterId}/cards", "List the cards that a saved filter finds, on all boards of its workspace that the caller sees. The other filters narrow it.", ListFilterCards)

	r.In("Webhooks", "Events, pushed to an address as signed deliveries.")
	op.Command(r, "create_webhook", "POST /webhooks", "Subscribe an address to the events of a board, or of every board that the whole workspace sees. The answer holds the signing secret, this once.", CreateWebhook, op.Admin, op.Guarded, op.Creates, op.Secret, op.NoTool)
	op.Query(r, "list_webhooks", "GET /webhooks", "List the webhooks of a workspace that the caller manages. Of the address it shows the host and the last four characters.", ListWebhooks, op.Admin, op.NoTool)
	op.Command(r, "delete_webhook", "DELETE /webhooks/{webhookId}", "Cancel a subscription. Its delivery log goes with it.", DeleteWebhook, op.Admin, op.Destructive, op.NoTool)
	op.Query(r, "get_webhook_sample", "GET /webhooks/samples/{event}", "Get a made-up delivery of a kind of event, for the editors of automation platforms.", GetWebhookSample, op.Admin, op.NoTool)
	op.Query(r, "get_webhook", "GET /webhooks/{webhookId}", "Get a webhook.", GetWebhook, op.Admin, op.Application)
	op.Command(r, "update_webhook", "PATCH /webhooks/{webhookId}", "Change a webhook's name, address or events.", UpdateWebhook, op.Admin, op.Application)
	op.Command(r, "pause_webhook", "POST /webhooks/{webhookId}/pause", "Switch a webhook off. What is on its way is skipped when its turn comes.", PauseWebhook, op.Admin, op.Application)
	op.Command(r, "switch_on_webhook", "POST /webhooks/{webhookId}/switch-on", "Send a test event that switches the webhook on when the receiver takes it. Its failures are forgotten then, and the caller is its owner.", SwitchOnWebhook, op.Admin, op.Application)
	op.Command(r, "test_webhook", "POST /webhooks/{webhookId}/test", "Send a test event, once, also while the webhook is off.", TestWebhook, op.Admin, op.Application)
	op.Command(r, "rotate_webhook_secret", "POST /webhooks/{webhookId}/rotate-secret", "Make another signing secret. For 24 hours deliveries carry two signatures, by it and by the one before.", RotateWebhookSecret, op.Admin, op.Application, op.Guarded, op.Secret)
	op.Query(r, "list_deliveries", "GET /webhooks/{webhookId}/deliveries", "List the last 100 deliveries of the last 30 days, newest first.", ListDeliveries, op.Admin, op.Application)
	op.Command(r, "send_deliveries_again", "POST /webhooks/{webhookId}/send-again", "Send deliveries of a webhook again that failed, gave up or were skipped.", SendDeliveriesAgain, op.Admin, op.Application)
	op.Query(r, "get_delivery", "GET /deliveries/{deliveryId}", "Get a delivery with its attempts and its body.", GetDelivery, op.Admin, op.Application)
	op.Command(r, "send_delivery_again", "POST /deliveries/{deliveryId}/send-again", "Send a delivery again that failed, gave up or was skipped.", SendDeliveryAgain, op.Admin, op.Application)
	op.Query(r, "get_delivery_quota", "GET /workspaces/{workspaceId}/delivery-quota", "Get how many deliveries the workspace's organization has caused today, and may.", GetDeliveryQuota, op.Admin, op.Application)
	for _, kind := range board.WebhookKinds() {
		sample, _ := board.SampleOf(kind, "https://cardwall.example.com")
		r.Event(string(kind), kind.When(), sample, board.DataOf(kind))
	}

	r.In("Notifications", "What people are told of, and how.")
	op.Query(r, "list_notifications", "GET /notifications", "List the caller's notifications of the last 90 days, newest first. Of what the caller may not see any more there is none.", ListNotifications, op.SignedIn)
	op.Query(r, "get_notification_count", "GET /notification-count", "Count the caller's unread notifications.", GetNotificationCount, op.SignedIn)
	op.Command(r, "mark_notification", "PATCH /notifications/{notificationId}", "Mark a notification as read, or as unread again.", MarkNotification, op.SignedIn)
	op.Command(r, "mark_all_notifications", "POST /notifications/read", "Mark all notifications up to one as read.", MarkAllNotifications, op.SignedIn)
	op.Query(r, "get_notification_settings", "GET /notification-settings", "Get how the caller is told of what.", GetNotificationSettings, op.SignedIn)
	op.Command(r, "set_notification_settings", "PUT /notification-settings", "Choose how the caller is told of what. Replaces all settings.", SetNotificationSettings, op.SignedIn)
	op.Command(r, "unsubscribe", "POST /unsubscribe", "End a person's letters about notifications, by the address in one of them.", Unsubscribe, op.Anonymous)
	op.Command(r, "watch_board", "PUT /boards/{boardId}/watch", "Be told of what changes on a board.", WatchBoard, op.Application)
	op.Command(r, "unwatch_board", "DELETE /boards/{boardId}/watch", "Be told no more of what changes on a board.", UnwatchBoard, op.Application)
	op.Query(r, "get_card_watch", "GET /cards/{cardId}/watch", "Get whether the caller is told of a card.", GetCardWatch, op.Application)
	op.Command(r, "watch_card", "PUT /cards/{cardId}/watch", "Be told of comments on a card and of what becomes of it.", WatchCard, op.Application)
	op.Command(r, "unwatch_card", "DELETE /cards/{cardId}/watch", "Be told no more of a card, also while working on it.", UnwatchCard, op.Application)

	r.In("Calendar feed", "A person's due dates for calendar programs.")
	op.Query(r, "get_calendar_feed", "GET /calendar-feed", "Get the caller's calendar feed. Its address was shown when it was made.", GetCalendarFeed, op.SignedIn)
	op.Command(r, "create_calendar_feed", "POST /calendar-feed", "Make the caller's calendar feed, or give it another address. The answer holds the address, this once; the one before ends.", CreateCalendarFeed, op.SignedIn, op.Creates, op.Secret)
	op.Command(r, "update_calendar_feed", "PATCH /calendar-feed", "Change what the caller's calendar feed shows.", UpdateCalendarFeed, op.SignedIn)
	op.Command(r, "delete_calendar_feed", "DELETE /calendar-feed", "Withdraw the caller's calendar feed. Its address shows nothing any more.", DeleteCalendarFeed, op.SignedIn, op.Destructive)

	r.In("Audit", "Who did what in a workspace, for its owners and admins.")
	op.Query(r, "list_audit_entries", "GET /workspaces/{workspaceId}/audit", "List what was done in a workspace and on its boards, newest first. Of boards that the caller does not see it tells neither names nor differences.", ListAuditEntries, op.Admin, op.Application)
	op.Stream(r, "export_audit_csv", "GET /workspaces/{workspaceId}/audit.csv", "Export the audit log of a workspace as comma-separated values. Takes the filters of list_audit_entries.", ExportAuditCSV, op.Admin, op.Application, op.Media("text/csv"))
	op.Stream(r, "export_audit_ndjson", "GET /workspaces/{workspaceId}/audit.ndjson", "Export the audit log of a workspace as lines of JSON. Takes the filters of list_audit_entries.", ExportAuditNDJSON, op.Admin, op.Application, op.Media("application/x-ndjson"))

	return r
}

// Deleted is the answer to an operation that takes something away.
type Deleted struct {
	ID string `json:"id" doc:"The id of what is gone." example:"lbl_01jb2m3n4p5q6r7s8t9v0w1x2y"`
}
