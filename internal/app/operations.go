package app

import (
	"cardwall/internal/board"
	"cardwall/internal/op"
)

// Operations returns the registry of all operations of the public interface and of
// the application. The API reference lists them in this order.
func Operations() *op.Registry {
	r := op.NewRegistry()
	registerAccount(r)
	registerWorkspaces(r)
	registerOrganizations(r)
	registerBoards(r)
	registerBoardPages(r)
	registerJobs(r)
	registerLists(r)
	registerCards(r)
	registerComments(r)
	registerLabels(r)
	registerSearchAndSavedFilters(r)
	registerWebhooks(r)
	registerNotifications(r)
	registerCalendarFeed(r)
	registerAudit(r)
	return r
}

func registerAccount(r *op.Registry) {
	r.In("Account", "The owner of the token.")
	op.Query(r, "get_me", "GET /me",
		"Get the token's owner. Returns the account and, under token, what the token itself may do.", GetMe)
	op.Query(r, "list_my_cards", "GET /me/cards",
		"List the cards assigned to the token's owner. Takes the filters of list_cards, and "+
			"workspaceId.", ListMyCards)
	op.Query(r, "get_my_overview", "GET /me/overview",
		"Get a summary of the caller's work. Returns cards that are overdue, due today, due this week and "+
			"recently assigned, and boards with their latest status. Each group has a count and its first five "+
			"entries.",
		GetMyOverview, op.Report)
	op.Query(r, "list_recent_activity", "GET /me/activity",
		"List the activity on every board that the caller can see, newest first.", ListRecentActivity)

	op.Query(r, "get_home", "GET /home",
		"Get the caller's workspaces with their boards, favorites and the times they were last opened.",
		GetHome, op.Application)
}

func registerWorkspaces(r *op.Registry) {
	r.In("Workspaces", "Groups of people who share boards.")
	op.Query(r, "list_workspaces", "GET /workspaces", "List the workspaces that the caller "+
		"belongs to.", ListWorkspaces)
	op.Query(r, "get_workspace", "GET /workspaces/{workspaceId}", "Get a workspace.", GetWorkspace)
	op.Query(r, "list_workspace_members", "GET /workspaces/{workspaceId}/members",
		"List the people of a workspace. Not available to guests. Only owners and admins see email addresses.",
		ListWorkspaceMembers)
	op.Query(r, "get_workspace_calendar", "GET /workspaces/{workspaceId}/calendar",
		"Get the cards in a range of days. Returns every card, done or not, whose span from start to due date "+
			"overlaps the range, from boards with the feature calendar switched on. A range with more than 5,000 "+
			"cards is refused with limit_reached.",
		GetWorkspaceCalendar, op.Report)
	op.Query(r, "get_workspace_dashboard", "GET /workspaces/{workspaceId}/dashboard",
		"Get the figures of a workspace. Counts cards in the open lists of the open boards that the caller "+
			"can see.",
		GetWorkspaceDashboard, op.Report)
	op.Command(r, "create_invitation", "POST /workspaces/{workspaceId}/invitations",
		"Invite an email address to a workspace, or renew its open invitation. Sends an email with a link, at "+
			"most once in five minutes. The invitation expires after 14 days.",
		CreateInvitation, op.Admin, op.Creates)
	op.Query(r, "list_invitations", "GET /workspaces/{workspaceId}/invitations",
		"List the open invitations of a workspace. Expired invitations are included until they are renewed or "+
			"withdrawn.",
		ListInvitations, op.Admin)
	op.Query(r, "look_at_invitation", "POST /invitation",
		"Get the invitation that the secret in its link belongs to. The secret is sent in the body to keep it "+
			"out of logs.",
		LookAtInvitation, op.Anonymous)
	op.Command(r, "accept_invitation", "POST /invitation/accept",
		"Accept an invitation with the secret from its link. Accepting it again has no effect.",
		JoinByLink, op.SignedIn)
	op.Command(r, "create_workspace", "POST /workspaces",
		"Create a workspace with an organization of its own. The caller becomes its owner.",
		CreateWorkspace, op.SignedIn, op.Creates)
	op.Command(r, "update_workspace", "PATCH /workspaces/{workspaceId}",
		"Change a workspace's name.", UpdateWorkspace, op.SignedIn)
	op.Command(r, "delete_workspace", "DELETE /workspaces/{workspaceId}",
		"Move a workspace to the trash. Nobody can reach it any more. An owner can restore it for 30 days; "+
			"after that it is deleted permanently with its boards. Requires an owner and a recent sign-in.",
		DeleteWorkspace, op.SignedIn, op.Recent)
	op.Command(r, "restore_workspace", "POST /workspaces/{workspaceId}/restore",
		"Restore a workspace from the trash with the members it had. Requires one of its owners.",
		RestoreWorkspace, op.SignedIn)
	op.Command(r, "change_member", "PUT /workspaces/{workspaceId}/members/{userId}",
		"Change a person's role in a workspace. Only owners can change an owner's role. The last owner must "+
			"stay.",
		ChangeMember, op.SignedIn, op.InSlices(unassignChanged))
	op.Command(r, "remove_member", "DELETE /workspaces/{workspaceId}/members/{userId}",
		"Remove a person from a workspace, or leave it. The person's board roles, assignments and tokens for "+
			"the workspace are removed. Everything the person created stays.",
		RemoveMember, op.SignedIn, op.InSlices(unassignLeaving))
	op.Command(r, "withdraw_invitation", "DELETE /workspaces/{workspaceId}/invitations/{invitationId}",
		"Withdraw an invitation. Its link stops working.", WithdrawInvitation, op.Admin)
}

func registerOrganizations(r *op.Registry) {
	r.In("Organizations", "The owners of workspaces, with their plans.")
	op.Query(r, "get_organization", "GET /organizations/{organizationId}",
		"Get an organization's plan and its current usage. Not available to guests.", GetOrganization, op.SignedIn)
	op.Query(r, "list_organization_members", "GET /organizations/{organizationId}/members",
		"List the people in all workspaces of an organization. Requires an owner of one of them. Email "+
			"addresses are shown only for people in a workspace that the caller manages.",
		ListOrganizationMembers, op.SignedIn)
	op.Query(r, "list_organizations", "GET /organizations",
		"List the organizations of the server, newest first. For the server's operators.",
		ListOrganizations, op.Operator)
	op.Command(r, "update_organization", "PATCH /organizations/{organizationId}",
		"Change an organization's plan, or whether it is read-only. For the server's operators. Requires a "+
			"recent sign-in.",
		UpdateOrganization, op.Operator, op.Recent)
}

func registerBoards(r *op.Registry) {
	r.In("Boards", "Lists of cards that people work on together.")
	op.Query(r, "list_boards", "GET /boards",
		"List the boards that the caller can see. Covers one workspace or all. Archived boards are included "+
			"only on request.",
		ListBoards)
	op.Query(r, "get_board", "GET /boards/{boardId}",
		"Get a board with its lists, labels, features and limits.", GetBoard)
	op.Command(r, "create_board", "POST /boards",
		"Create a board in a workspace. The caller becomes its admin.", CreateBoard, op.Creates)
	op.Command(r, "update_board", "PATCH /boards/{boardId}",
		"Change a board's name, description, color, visibility or features. Changing the visibility or "+
			"features requires a board admin. Changing the visibility or features.publicPage also requires the "+
			"scope admin, because they decide who can see the board.",
		UpdateBoard, op.Destructive)
	op.Command(r, "archive_board", "POST /boards/{boardId}/archive",
		"Archive a board. It is read-only until it is restored.", ArchiveBoard)
	op.Command(r, "restore_board", "POST /boards/{boardId}/restore",
		"Restore a board from the archive or the trash. Restoring from the trash also requires the scope "+
			"admin.",
		RestoreBoard)
	op.Command(r, "trash_board", "DELETE /boards/{boardId}",
		"Move a board to the trash. A board admin can restore it for 30 days; after that it is deleted "+
			"permanently.",
		TrashBoard, op.Admin)
	op.Long(r, "copy_board", "POST /boards/{boardId}/copy",
		"Copy a board with its labels and open lists and, on request, its open cards. Members are not copied; "+
			"the caller becomes the copy's admin. A copy sends no events. Copying a confidential board also "+
			"requires the scope admin. A job makes the copy of a large board.",
		CopyBoard, boardOfJob, op.Creates)
	op.Command(r, "save_board_as_template", "POST /boards/{boardId}/template",
		"Save a board as a template of its workspace. A template keeps features, labels, open lists and, on "+
			"request, open cards without people and dates. Confidential boards cannot be saved as templates.",
		SaveBoardAsTemplate, op.Creates, op.Before(readTemplate))
	op.Query(r, "list_board_templates", "GET /board-templates",
		"List the built-in templates and the templates of a workspace.", ListBoardTemplates)
	op.Long(r, "create_board_from_template", "POST /board-templates/{templateId}/boards",
		"Create a board from a template. The caller becomes its admin. Like a copy, it sends no events. "+
			"A job makes the board if the template is large.",
		CreateBoardFromTemplate, boardOfJob, op.Creates)
	op.Query(r, "get_board_template", "GET /board-templates/{templateId}",
		"Get a template with the first cards of its lists.", GetBoardTemplate, op.Application)
	op.Command(r, "delete_board_template", "DELETE /board-templates/{templateId}",
		"Delete a template of a workspace. Requires an owner or admin of the workspace. Boards created from "+
			"it are kept.",
		DeleteBoardTemplate, op.Application)
	op.Query(r, "list_board_members", "GET /boards/{boardId}/members",
		"List the people who can see a board, with their roles.", ListBoardMembers)
	op.Command(r, "share_board", "PUT /boards/{boardId}/members/{userId}",
		"Share a board with a person of its workspace, or change the person's role on it.", ShareBoard, op.Admin)
	op.Command(r, "remove_board_member", "DELETE /boards/{boardId}/members/{userId}",
		"Remove a person's role on a board. A person who can no longer see the board is unassigned from its "+
			"cards.",
		RemoveBoardMember, op.Admin, op.InSlices(unassignRemoved))
	op.Query(r, "list_board_activity", "GET /boards/{boardId}/activity",
		"List the activity of a board, or of one of its cards, newest first.", ListBoardActivity)
	op.Query(r, "list_board_changes", "GET /boards/{boardId}/changes",
		"List the changes to a board after a given boardVersion, in order. Webhook receivers use it to fill "+
			"gaps.",
		ListBoardChanges)
	op.Query(r, "list_status_updates", "GET /boards/{boardId}/status-updates",
		"List the status updates of a board, newest first.", ListStatusUpdates)
	op.Command(r, "post_status_update", "POST /boards/{boardId}/status-updates",
		"Post a status update on a board. It stores the board's current figures and cannot be changed "+
			"afterwards.",
		PostStatusUpdate, op.Creates)
	op.Query(r, "draft_status_update", "GET /boards/{boardId}/status-updates/draft",
		"Get a draft of a status update. It summarizes in Markdown what changed on the board in the last "+
			"seven days. Nothing is posted.",
		DraftStatusUpdate, op.Application)
}

// registerBoardPages registers the operations on boards that only the application
// uses.
func registerBoardPages(r *op.Registry) {
	op.Query(r, "open_board", "GET /boards/{boardId}/open",
		"Get everything a client needs to show a board. Returns its lists, labels, members and open cards, "+
			"all at the same boardVersion.",
		ReadOpenBoard, op.Application)
	op.Command(r, "star_board", "PUT /boards/{boardId}/star",
		"Add a board to the caller's favorites.", StarBoard, op.Application)
	op.Command(r, "set_collapsed_lists", "PUT /boards/{boardId}/collapsed-lists",
		"Store which lists of a board are collapsed for the caller.", SetCollapsedLists, op.Application)
	op.Command(r, "unstar_board", "DELETE /boards/{boardId}/star",
		"Remove a board from the caller's favorites.", UnstarBoard, op.Application)
	op.Query(r, "get_public_page", "GET /boards/{boardId}/public-page",
		"Get the public page of a board. Returns its address, what it shows, and what guests may do on it.",
		GetPublicPage, op.Admin, op.Application)
	op.Command(r, "update_public_page", "PATCH /boards/{boardId}/public-page",
		"Switch the public page of a board on or off, or change its settings. The settings say what the page "+
			"shows and what guests may do. Confidential boards have no public page.",
		UpdatePublicPage, op.Admin, op.Application, op.Unkeyed)
	op.Command(r, "renew_public_page", "POST /boards/{boardId}/public-page/renew",
		"Give the public page of a board a new address. The old address stops working at once.",
		RenewPublicPage, op.Admin, op.Application, op.Unkeyed)
	op.Query(r, "list_trashed_boards", "GET /workspaces/{workspaceId}/trash",
		"List the boards in a workspace's trash that the caller may restore.", ListTrashedBoards, op.Application)
}

func registerJobs(r *op.Registry) {
	r.In("Jobs", "Imports and copies that take longer than one request.")
	op.Query(r, "get_job", "GET /jobs/{jobId}", "Get the state and the progress of a job that the caller started.", GetJob)
	op.Query(r, "list_jobs", "GET /workspaces/{workspaceId}/jobs",
		"List the caller's jobs in a workspace, newest first. By default, a server lists a job for 30 days after its end.", ListJobs)
	op.Command(r, "cancel_job", "POST /jobs/{jobId}/cancel",
		"Cancel a job that the caller started. What it made so far is deleted. A job that has ended, or whose result is visible, stays "+
			"as it is.", CancelJob,
		op.Destructive)
}

func registerLists(r *op.Registry) {
	r.In("Lists", "The columns of a board.")
	op.Query(r, "list_lists", "GET /boards/{boardId}/lists", "List the lists of a board in order.", ListLists)
	op.Command(r, "create_list", "POST /boards/{boardId}/lists", "Create a list on a board.", CreateList, op.Creates)
	op.Command(r, "update_list", "PATCH /lists/{listId}", "Change a list's name or WIP limit.", UpdateList)
	op.Command(r, "move_list", "POST /lists/{listId}/move", "Move a list to another position on its board.", MoveList)
	op.Long(r, "move_list_to_board", "POST /lists/{listId}/move-to-board",
		"Move a list with all its cards to another board. Labels are matched by name and color. The response "+
			"lists the labels and assignees that had to be dropped. Moving out of a confidential board also "+
			"requires the scope admin. A job moves a large list: its cards leave the board, the list moves, and then "+
			"the cards enter it. Until then the list cannot be changed.",
		MoveListToBoard, movedListOfJob, op.Destructive)
	op.Long(r, "copy_list", "POST /lists/{listId}/copy",
		"Copy a list with its open cards on the same board. The copied cards are not done. A job makes the copy of a large list.",
		CopyList, listOfJob, op.Creates)
	op.Command(r, "archive_list", "POST /lists/{listId}/archive",
		"Archive a list together with its cards. The cards cannot be changed until the list is "+
			"restored.", ArchiveList)
	op.Command(r, "restore_list", "POST /lists/{listId}/restore",
		"Restore an archived list together with its cards.", RestoreList)
}

func registerCards(r *op.Registry) {
	r.In("Cards", "Single pieces of work.")
	op.Query(r, "list_cards", "GET /boards/{boardId}/cards",
		"List the cards of a board. A card must match every filter; values separated by commas within one "+
			"filter are alternatives.",
		ListCards, op.Kept(boardOfCards))
	op.Query(r, "get_card", "GET /cards/{cardId}", "Get a card with its checklists.", GetCard, op.Kept(boardOfCard))
	op.Command(r, "create_card", "POST /cards", "Create a card in a list.", CreateCard, op.Creates)
	op.Command(r, "update_card", "PATCH /cards/{cardId}",
		"Change a card's title or description, or whether it is done.", UpdateCard)
	op.Command(r, "move_card", "POST /cards/{cardId}/move",
		"Move a card to a position in a list of its own board.", MoveCard)
	op.Command(r, "move_card_to_board", "POST /cards/{cardId}/move-to-board",
		"Move a card to a list of another board. It keeps its id and gets a new number. Labels are matched by "+
			"name and color. The response lists the labels and assignees that had to be dropped. Moving out of a "+
			"confidential board also requires the scope admin.",
		MoveCardToBoard, op.Destructive)
	op.Command(r, "copy_card", "POST /cards/{cardId}/copy",
		"Copy a card on its board or to another one. The copy is not done. A copy on another board sends no "+
			"events. Copying out of a confidential board also requires the scope admin.",
		CopyCard, op.Creates, op.Destructive)
	op.Command(r, "archive_card", "POST /cards/{cardId}/archive", "Archive a card.", ArchiveCard)
	op.Command(r, "restore_card", "POST /cards/{cardId}/restore", "Restore an archived card to its list.", RestoreCard)
	op.Command(r, "set_card_labels", "PATCH /cards/{cardId}/labels",
		"Add labels to a card and remove others. Returns all labels of the card after the change.", SetCardLabels)
	op.Command(r, "set_card_assignees", "PATCH /cards/{cardId}/assignees",
		"Assign people to a card and unassign others. Returns all assignees of the card after the change.",
		SetCardAssignees)
	op.Command(r, "set_card_due", "PUT /cards/{cardId}/due",
		"Set when a card is due and when its work starts. A date that is absent stays unchanged; null clears "+
			"it. A time of day requires a time zone.",
		SetCardDue)
	op.Command(r, "clear_card_due", "DELETE /cards/{cardId}/due",
		"Clear the due date and the start of a card.", ClearCardDue)
	op.Query(r, "list_checklists", "GET /cards/{cardId}/checklists",
		"List the checklists of a card with their items.", ListChecklists)
	op.Command(r, "add_checklist", "POST /cards/{cardId}/checklists",
		"Add a checklist to a card, optionally with items.", AddChecklist, op.Creates)
	op.Command(r, "update_checklist", "PATCH /checklists/{checklistId}", "Change a checklist's title.", UpdateChecklist)
	op.Command(r, "delete_checklist", "DELETE /checklists/{checklistId}",
		"Delete a checklist with its items.", DeleteChecklist)
	op.Command(r, "add_checklist_item", "POST /checklists/{checklistId}/items",
		"Add an item to a checklist.", AddChecklistItem, op.Creates)
	op.Command(r, "update_checklist_item", "PATCH /checklist-items/{itemId}",
		"Change a checklist item's title or position, or whether it is done.", UpdateChecklistItem)
	op.Command(r, "delete_checklist_item", "DELETE /checklist-items/{itemId}",
		"Delete a checklist item.", DeleteChecklistItem)
}

func registerComments(r *op.Registry) {
	r.In("Comments", "Discussions on cards.")
	op.Query(r, "list_comments", "GET /cards/{cardId}/comments",
		"List the comments of a card, oldest first.", ListComments)
	op.Command(r, "add_comment", "POST /cards/{cardId}/comments", "Comment on a card.", AddComment, op.Creates)
	op.Command(r, "edit_comment", "PATCH /comments/{commentId}",
		"Change the text of a comment. Only its author can edit it.", EditComment)
	op.Command(r, "delete_comment", "DELETE /comments/{commentId}",
		"Delete a comment. Authors can delete their own comments; board admins can delete any.", DeleteComment)
}

func registerLabels(r *op.Registry) {
	r.In("Labels", "Colored tags for the cards of a board.")
	op.Query(r, "list_labels", "GET /boards/{boardId}/labels",
		"List the labels of a board, sorted by name.", ListLabels)
	op.Command(r, "create_label", "POST /boards/{boardId}/labels",
		"Create a label on a board.", CreateLabel, op.Creates)
	op.Command(r, "update_label", "PATCH /labels/{labelId}", "Change a label's name or color.", UpdateLabel)
	op.Command(r, "delete_label", "DELETE /labels/{labelId}",
		"Delete a label and remove it from all cards. Each open card with the label changes and gets its own "+
			"event.",
		DeleteLabel, op.InSlices(removeLabelInSlices))
}

func registerSearchAndSavedFilters(r *op.Registry) {
	r.In("Search and saved filters", "Card queries, and queries saved for later.")
	op.Query(r, "search_cards", "GET /search",
		"Search cards on every board that the caller can see. The most recently changed cards come first.",
		SearchCards, op.Search, op.Report, op.Echoes[SearchedQuery]())
	op.Query(r, "list_saved_filters", "GET /saved-filters",
		"List the saved filters of a workspace that the caller can see. These are the caller's own and those "+
			"shared by members. Guests see only their own.",
		ListSavedFilters)
	op.Command(r, "create_saved_filter", "POST /saved-filters",
		"Save a query as a filter, for the caller alone or shared with the workspace.", CreateSavedFilter, op.Creates)
	op.Command(r, "update_saved_filter", "PATCH /saved-filters/{filterId}",
		"Change a saved filter's name or query, or whether it is shared. Owners and admins of the workspace "+
			"can change any shared filter.",
		UpdateSavedFilter)
	op.Command(r, "delete_saved_filter", "DELETE /saved-filters/{filterId}",
		"Delete a saved filter. Owners and admins of the workspace can delete any shared filter.", DeleteSavedFilter)
	op.Query(r, "list_filter_cards", "GET /saved-filters/{filterId}/cards",
		"List the cards that match a saved filter. Covers all boards of its workspace that the caller can "+
			"see. Further filters narrow the result.",
		ListFilterCards, op.Report)
}

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
		"Get a sample delivery for a kind of event, for the editors of automation platforms.",
		GetWebhookSample, op.Admin, op.NoTool)
	op.Query(r, "get_webhook", "GET /webhooks/{webhookId}", "Get a webhook.", GetWebhook, op.Admin, op.Application)
	op.Command(r, "update_webhook", "PATCH /webhooks/{webhookId}",
		"Change a webhook's name, URL or events.", UpdateWebhook, op.Admin, op.Application)
	op.Command(r, "pause_webhook", "POST /webhooks/{webhookId}/pause",
		"Switch a webhook off. Deliveries that are still pending are "+
			"skipped.", PauseWebhook, op.Admin, op.Application)
	op.Command(r, "switch_on_webhook", "POST /webhooks/{webhookId}/switch-on",
		"Send a test event, and switch the webhook on if the receiver accepts it. This resets its count of "+
			"failures and makes the caller its owner.",
		SwitchOnWebhook, op.Admin, op.Application)
	op.Command(r, "test_webhook", "POST /webhooks/{webhookId}/test",
		"Send one test event. This also works while the webhook is off.", TestWebhook, op.Admin, op.Application)
	op.Command(r, "rotate_webhook_secret", "POST /webhooks/{webhookId}/rotate-secret",
		"Create a new signing secret. For 24 hours, deliveries are signed with both the new and the previous "+
			"secret.",
		RotateWebhookSecret, op.Admin, op.Application, op.Recent, op.Secret)
	op.Query(r, "list_deliveries", "GET /webhooks/{webhookId}/deliveries",
		"List the last 100 deliveries of the last 30 days, newest first.", ListDeliveries, op.Admin, op.Application)
	op.Command(r, "send_deliveries_again", "POST /webhooks/{webhookId}/send-again",
		"Send deliveries of a webhook again that failed, were given up or were skipped.",
		SendDeliveriesAgain, op.Admin, op.Application)
	op.Query(r, "get_delivery", "GET /deliveries/{deliveryId}",
		"Get a delivery with its attempts and its body.", GetDelivery, op.Admin, op.Application)
	op.Command(r, "send_delivery_again", "POST /deliveries/{deliveryId}/send-again",
		"Send a delivery again that failed, was given up or was "+
			"skipped.", SendDeliveryAgain, op.Admin, op.Application)
	op.Query(r, "get_delivery_quota", "GET /workspaces/{workspaceId}/delivery-quota",
		"Get how many deliveries the workspace's organization has caused today, and its daily limit.",
		GetDeliveryQuota, op.Admin, op.Application)
	for _, kind := range board.WebhookKinds() {
		sample, _ := board.SampleOf(kind, "https://cardwall.example.com")
		r.Event(string(kind), kind.When(), sample, board.DataOf(kind))
	}
}

func registerNotifications(r *op.Registry) {
	r.In("Notifications", "Messages to people about changes, and their settings.")
	op.Query(r, "list_notifications", "GET /notifications",
		"List the caller's notifications, newest first. Notifications about boards that "+
			"the caller can no longer see are left out.",
		ListNotifications, op.SignedIn)
	op.Query(r, "get_notification_count", "GET /notification-count",
		"Count the caller's unread notifications.", GetNotificationCount, op.SignedIn)
	op.Command(r, "mark_notification", "PATCH /notifications/{notificationId}",
		"Mark a notification as read or unread.", MarkNotification, op.SignedIn)
	op.Command(r, "mark_all_notifications", "POST /notifications/read",
		"Mark all notifications up to a given one as read.", MarkAllNotifications, op.SignedIn, op.InSlices(markInSlices))
	op.Query(r, "get_notification_settings", "GET /notification-settings",
		"Get the caller's notification settings.", GetNotificationSettings, op.SignedIn)
	op.Command(r, "set_notification_settings", "PUT /notification-settings",
		"Replace the caller's notification settings.", SetNotificationSettings, op.SignedIn)
	op.Command(r, "unsubscribe", "POST /unsubscribe",
		"Stop a person's notification emails, using the link in one of them.", Unsubscribe, op.Anonymous)
	op.Command(r, "watch_board", "PUT /boards/{boardId}/watch",
		"Watch a board. The caller is notified of its changes.", WatchBoard, op.Application)
	op.Command(r, "unwatch_board", "DELETE /boards/{boardId}/watch",
		"Stop watching a board.", UnwatchBoard, op.Application)
	op.Query(r, "get_card_watch", "GET /cards/{cardId}/watch",
		"Get whether the caller is notified about a card.", GetCardWatch, op.Application)
	op.Command(r, "watch_card", "PUT /cards/{cardId}/watch",
		"Watch a card. The caller is notified of its comments and changes.", WatchCard, op.Application)
	op.Command(r, "unwatch_card", "DELETE /cards/{cardId}/watch",
		"Stop watching a card. The caller is no longer notified about it, even while assigned to it.",
		UnwatchCard, op.Application)
}

func registerCalendarFeed(r *op.Registry) {
	r.In("Calendar feed", "A person's due dates for calendar programs.")
	op.Query(r, "get_calendar_feed", "GET /calendar-feed",
		"Get the caller's calendar feed. Its address is shown only when it is created.", GetCalendarFeed, op.SignedIn)
	op.Command(r, "create_calendar_feed", "POST /calendar-feed",
		"Create the caller's calendar feed, or replace its address. The response contains the address, which "+
			"is shown only once. The previous address stops working.",
		CreateCalendarFeed, op.SignedIn, op.Recent, op.Creates, op.Secret)
	op.Command(r, "update_calendar_feed", "PATCH /calendar-feed",
		"Change what the caller's calendar feed shows.", UpdateCalendarFeed, op.SignedIn)
	op.Command(r, "delete_calendar_feed", "DELETE /calendar-feed",
		"Withdraw the caller's calendar feed. Its address stops working.", DeleteCalendarFeed, op.SignedIn)
}

func registerAudit(r *op.Registry) {
	r.In("Audit", "The record of who did what in a workspace, for its owners and admins.")
	op.Query(r, "list_audit_entries", "GET /workspaces/{workspaceId}/audit",
		"List the audit log of a workspace and its boards, newest first. For boards that the caller cannot "+
			"see, names and changed values are left out.",
		ListAuditEntries, op.Admin, op.Application)
	op.Stream(r, "export_audit_csv", "GET /workspaces/{workspaceId}/audit.csv",
		"Export the audit log of a workspace as comma-separated values. Takes the filters of "+
			"list_audit_entries.",
		ExportAuditCSV, op.Admin, op.Application, op.Media("text/csv"))
	op.Stream(r, "export_audit_ndjson", "GET /workspaces/{workspaceId}/audit.ndjson",
		"Export the audit log of a workspace as newline-delimited JSON. Takes the filters of "+
			"list_audit_entries.",
		ExportAuditNDJSON, op.Admin, op.Application, op.Media("application/x-ndjson"))
}

// Deleted is the result of an operation that deletes an object.
type Deleted struct {
	ID string `json:"id" doc:"The id of the deleted object." example:"lbl_01jb2m3n4p5q6r7s8t9v0w1x2y"`
}
