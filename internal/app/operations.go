package app

import (
	"cardwall/internal/board"
	"cardwall/internal/op"
)

// Operations returns a registry of the operations in this package, both those of the
// public interface and those that only the application uses. The API reference lists
// the public ones in the order of their registration.
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
	registerAttachments(r)
	registerUploads(r)
	registerLabels(r)
	registerSearchAndSavedFilters(r)
	registerWebhooks(r)
	registerNotifications(r)
	registerCalendarFeed(r)
	registerAudit(r)
	r.In("Batch", "Several operations in one request.")
	op.Batch(r, "batch", "POST /batch",
		"Perform up to 100 operations. Each must be a command of the public API that takes only JSON, except those that a job or "+
			"several transactions perform, and those that take the URL of a webhook. In the mode all, the default, the "+
			"operations change the same board in one transaction: if one of them fails, nothing happens, and the message and "+
			"the details of the error begin with its place, such as operations[3]. In the mode each, the operations are "+
			"performed one by one, each with the permissions of a request of its own; failures do not prevent the others. A "+
			"retry with the same idempotency key performs only what the former request did not, and returns all results. A "+
			"batch counts as its operations against the rate limit.",
		op.NoTool)
	return r
}

func registerAccount(r *op.Registry) {
	r.In("Account", "The owner of the token.")
	op.Query(r, "get_me", "GET /me",
		"Get the token's owner. Returns the account and, in token, what the token is allowed to do.", GetMe)
	op.Query(r, "list_my_cards", "GET /me/cards",
		"List the cards assigned to the token's owner. Accepts the filters of list_cards, and "+
			"workspaceId.", ListMyCards, op.Expands(expandCards))
	op.Query(r, "get_my_overview", "GET /me/overview",
		"Get a summary of the caller's work. Returns the caller's cards that are overdue, due today, due this week "+
			"or recently assigned, and boards with their latest status. Each group has a count and its first five "+
			"entries.",
		GetMyOverview, op.Report)
	op.Query(r, "list_recent_activity", "GET /me/activity",
		"List the activity on every board that the caller can see, newest first.", ListRecentActivity)

	op.Contents(r, "download_avatar", "GET /users/{userId}/avatar",
		"Download the picture of a person. It is a JPEG or PNG file of at most 256 × 256 pixels. People are visible to the "+
			"members of their workspaces, and to guests who can see one of their boards.",
		DownloadAvatar)

	op.Query(r, "list_avatars", "GET /avatars",
		"List the people who have a picture. Like download_avatar, it includes only people who are visible to the caller.",
		ListAvatars, op.Application)
	op.Query(r, "get_home", "GET /home",
		"Get the caller's workspaces with their boards. Each board includes whether it is one of the caller's "+
			"favorites, and when the caller last opened it.",
		GetHome, op.Application)
}

func registerWorkspaces(r *op.Registry) {
	r.In("Workspaces", "Groups of people who share boards.")
	op.Query(r, "list_workspaces", "GET /workspaces", "List the workspaces that the caller "+
		"belongs to.", ListWorkspaces)
	op.Query(r, "get_workspace", "GET /workspaces/{workspaceId}", "Get a workspace.", GetWorkspace)
	op.Query(r, "list_workspace_members", "GET /workspaces/{workspaceId}/members",
		"List the people in a workspace. Not available to guests. Only owners and admins see email addresses.",
		ListWorkspaceMembers)
	op.Query(r, "get_workspace_calendar", "GET /workspaces/{workspaceId}/calendar",
		"Get the cards in a range of days. Returns every card, done or not, whose span from start to due date "+
			"overlaps the range, from boards with the calendar feature enabled. If there are more than 5,000 "+
			"cards, the response has a nextCursor for the rest.",
		GetWorkspaceCalendar, op.Report)
	op.Query(r, "get_workspace_dashboard", "GET /workspaces/{workspaceId}/dashboard",
		"Get key figures of a workspace. Counts the cards in open lists on the open boards that the caller "+
			"can see.",
		GetWorkspaceDashboard, op.Report)
	op.Query(r, "list_workspace_changes", "GET /workspaces/{workspaceId}/changes",
		"List the changes of all boards of a workspace that the caller can see, of the last 30 days. The changes of a board are in "+
			"the order of their versions. A receiver that was away sends the cursor of its last response as since, until more is "+
			"false. A change is in the list once it is committed or, while many boards are changing, up to a minute "+
			"later. Changes by a job are in the list when the job has ended.",
		ListWorkspaceChanges, op.NoTool)
	op.Command(r, "create_invitation", "POST /workspaces/{workspaceId}/invitations",
		"Invite an email address to a workspace, or renew its open invitation. Sends an email with a link. "+
			"An address receives at most one such email every five minutes. The invitation expires after 14 days.",
		CreateInvitation, op.Admin, op.Creates)
	op.Query(r, "list_invitations", "GET /workspaces/{workspaceId}/invitations",
		"List the open invitations of a workspace. Expired invitations are included until they are renewed or "+
			"withdrawn.",
		ListInvitations, op.Admin)
	op.Query(r, "get_invitation", "POST /invitation",
		"Get an invitation with the secret from its link. The secret is sent in the body to keep it "+
			"out of logs.",
		GetInvitation, op.Anonymous)
	op.Command(r, "accept_invitation", "POST /invitation/accept",
		"Accept an invitation with the secret from its link. Accepting it again has no effect.",
		JoinByLink, op.SignedIn)
	op.Command(r, "create_workspace", "POST /workspaces",
		"Create a workspace and an organization that owns it. The caller becomes the owner of the workspace.",
		CreateWorkspace, op.SignedIn, op.Creates)
	op.Command(r, "update_workspace", "PATCH /workspaces/{workspaceId}",
		"Change a workspace's name.", UpdateWorkspace, op.SignedIn)
	op.Command(r, "delete_workspace", "DELETE /workspaces/{workspaceId}",
		"Move a workspace to the trash. It is no longer accessible. An owner can restore it within 30 days. "+
			"After that, it is deleted permanently with its boards. The caller must be an owner. Requires a recent sign-in.",
		DeleteWorkspace, op.SignedIn, op.Recent)
	op.Command(r, "restore_workspace", "POST /workspaces/{workspaceId}/restore",
		"Restore a workspace from the trash, with its members. The caller must be one of its owners.",
		RestoreWorkspace, op.SignedIn)
	op.Command(r, "change_member", "PUT /workspaces/{workspaceId}/members/{userId}",
		"Change a person's role in a workspace. Only owners can change an owner's role. A workspace "+
			"always keeps at least one owner.",
		ChangeMember, op.SignedIn, op.InSlices(unassignChanged))
	op.Command(r, "remove_member", "DELETE /workspaces/{workspaceId}/members/{userId}",
		"Remove a person from a workspace, or leave it. Removes the person's board roles and assignments, revokes the "+
			"person's tokens that are limited to the workspace, and withdraws open invitations that the person has sent. "+
			"Everything else that the person created is kept.",
		RemoveMember, op.SignedIn, op.InSlices(unassignLeaving))
	op.Command(r, "withdraw_invitation", "DELETE /workspaces/{workspaceId}/invitations/{invitationId}",
		"Withdraw an invitation. Its link stops working.", WithdrawInvitation, op.Admin)
}

func registerOrganizations(r *op.Registry) {
	r.In("Organizations", "The owners of workspaces, with their plans.")
	op.Query(r, "get_organization", "GET /organizations/{organizationId}",
		"Get an organization's plan and its current usage. Not available to guests.", GetOrganization, op.SignedIn)
	op.Query(r, "list_organization_members", "GET /organizations/{organizationId}/members",
		"List the people in all workspaces of an organization. The caller must be an owner of one of them. "+
			"Email addresses are shown only for people in a workspace that the caller manages.",
		ListOrganizationMembers, op.SignedIn)
	op.Query(r, "list_organizations", "GET /organizations",
		"List all organizations on the server, newest first. Only for the server's operators.",
		ListOrganizations, op.Operator)
	op.Command(r, "update_organization", "PATCH /organizations/{organizationId}",
		"Change an organization's plan, or whether the organization is read-only. Only for the server's operators. "+
			"Requires a recent sign-in.",
		UpdateOrganization, op.Operator, op.Recent)
}

// templatesPromoted marks the operations for templates that only the pages used at first.
var templatesPromoted = op.Promoted("2026-11-29")

func registerBoards(r *op.Registry) {
	r.In("Boards", "Lists of cards that people work on together.")
	op.Query(r, "list_boards", "GET /boards",
		"List the boards that the caller can see, in one workspace or in all. Archived boards are included "+
			"only on request.",
		ListBoards)
	op.Query(r, "get_board", "GET /boards/{boardId}",
		"Get a board with its lists, labels, features and limits.", GetBoard)
	op.Command(r, "create_board", "POST /boards",
		"Create a board in a workspace, optionally with lists and labels. The caller becomes its admin.", CreateBoard, op.Creates)
	op.Command(r, "update_board", "PATCH /boards/{boardId}",
		"Change a board's name, description, color, background, visibility or features. Changing the visibility or "+
			"features requires a board admin. Changing the visibility or features.publicPage requires the "+
			"admin scope, because they determine who can see the board.",
		UpdateBoard, op.Destructive)
	op.TakesPicture(r, "set_background", "PUT /boards/{boardId}/background", board.AsBackground,
		"Show a picture behind the lists of a board. It is scaled down to at most 1,920 pixels on its longer side, without metadata.",
		SetBackground)
	op.Contents(r, "download_background", "GET /boards/{boardId}/background",
		"Download the picture behind the lists of a board. It is a JPEG or PNG file of at most 500 kB.", DownloadBackground)
	op.Command(r, "archive_board", "POST /boards/{boardId}/archive",
		"Archive a board. It is read-only until it is restored.", ArchiveBoard)
	op.Command(r, "restore_board", "POST /boards/{boardId}/restore",
		"Restore a board from the archive or the trash. Restoring from the trash requires the "+
			"admin scope.",
		RestoreBoard)
	op.Command(r, "trash_board", "DELETE /boards/{boardId}",
		"Move a board to the trash. A board admin can restore it within 30 days. After that, it is deleted "+
			"permanently.",
		TrashBoard, op.Admin)
	op.Long(r, "copy_board", "POST /boards/{boardId}/copy",
		"Copy a board with its labels and open lists and, on request, their cards. Members are not copied. "+
			"The caller becomes the admin of the copy. Copying sends no events. A private or confidential board, "+
			"or another workspace, requires the admin scope. A large board is copied by a job.",
		CopyBoard, boardOfJob, op.Creates, op.Destructive)
	op.Command(r, "save_board_as_template", "POST /boards/{boardId}/template",
		"Save a board as a template of its workspace. The template includes the board's features, labels and open lists "+
			"and, on request, their cards without assignees and dates. A private board requires the admin "+
			"scope; a confidential one cannot be saved.",
		SaveBoardAsTemplate, op.Creates, op.Destructive, op.Before(readTemplate))
	op.Query(r, "list_board_templates", "GET /board-templates",
		"List the built-in templates and the templates of a workspace.", ListBoardTemplates)
	op.Long(r, "create_board_from_template", "POST /board-templates/{templateId}/boards",
		"Create a board from a template. The caller becomes the board's admin. No events are sent. "+
			"If the template is large, a job creates the board.",
		CreateBoardFromTemplate, boardOfJob, op.Creates)
	op.Query(r, "get_board_template", "GET /board-templates/{templateId}",
		"Get a template with the first cards of its lists.", GetBoardTemplate, op.NoTool, templatesPromoted)
	op.Command(r, "delete_board_template", "DELETE /board-templates/{templateId}",
		"Delete a template of a workspace. The caller must be an owner or admin of the workspace. Boards created "+
			"from the template are kept.",
		DeleteBoardTemplate, op.Admin, templatesPromoted)
	op.Query(r, "list_board_members", "GET /boards/{boardId}/members",
		"List the people who can see a board, with their roles.", ListBoardMembers)
	op.Command(r, "share_board", "PUT /boards/{boardId}/members/{userId}",
		"Share a board with a person in its workspace, or change the person's role on the board.", ShareBoard, op.Admin)
	op.Command(r, "remove_board_member", "DELETE /boards/{boardId}/members/{userId}",
		"Remove a person's role on a board. A person who can no longer see the board is unassigned from its "+
			"cards.",
		RemoveBoardMember, op.Admin, op.InSlices(unassignRemoved))
	op.Query(r, "list_trash", "GET /boards/{boardId}/trash",
		"List the deleted cards and lists of a board, newest first. The caller must be an admin of the board.", ListTrash, op.NoTool)
	op.Query(r, "list_board_activity", "GET /boards/{boardId}/activity",
		"List the activity of a board, or of one of its cards, newest first.", ListBoardActivity)
	op.Query(r, "get_activity", "GET /activity/{activityId}",
		"Get an entry of the activity of a board.", GetActivity, op.NoTool)
	op.Query(r, "list_board_changes", "GET /boards/{boardId}/changes",
		"List the changes to a board after a given boardVersion, in order. Webhook receivers can use it to "+
			"fill gaps. The boardVersion of the response is the version up to which it is complete, also with filters: use "+
			"that of the last page as since in a later request.",
		ListBoardChanges, op.Versioned)
	op.Query(r, "list_status_updates", "GET /boards/{boardId}/status-updates",
		"List the status updates of a board, newest first.", ListStatusUpdates)
	op.Query(r, "get_status_update", "GET /status-updates/{statusUpdateId}",
		"Get a status update.", GetStatusUpdate, op.NoTool)
	op.Command(r, "post_status_update", "POST /boards/{boardId}/status-updates",
		"Post a status update on a board. The update includes the board's current key figures and cannot be changed "+
			"afterwards.",
		PostStatusUpdate, op.Creates)
	op.Query(r, "draft_status_update", "GET /boards/{boardId}/status-updates/draft",
		"Get a draft of a status update. The draft summarizes in Markdown what changed on the board in the last "+
			"seven days. Nothing is posted.",
		DraftStatusUpdate, op.Application)
}

// registerBoardPages registers the operations on boards that only the application
// uses.
func registerBoardPages(r *op.Registry) {
	op.Query(r, "open_board", "GET /boards/{boardId}/open",
		"Get everything a client needs to show a board. Returns its lists, labels, members and cards, "+
			"all at the same boardVersion.",
		ReadOpenBoard, op.Application)
	op.Command(r, "star_board", "PUT /boards/{boardId}/star",
		"Add a board to the caller's favorites.", StarBoard, op.Application)
	op.Command(r, "set_collapsed_lists", "PUT /boards/{boardId}/collapsed-lists",
		"Set which lists of a board are collapsed for the caller.", SetCollapsedLists, op.Application)
	op.Command(r, "unstar_board", "DELETE /boards/{boardId}/star",
		"Remove a board from the caller's favorites.", UnstarBoard, op.Application)
	op.Query(r, "get_public_page", "GET /boards/{boardId}/public-page",
		"Get the settings of a board's public page. Returns its URL, what it shows, and what guests may do on it.",
		GetPublicPage, op.Admin, op.Application)
	op.Command(r, "update_public_page", "PATCH /boards/{boardId}/public-page",
		"Enable or disable the public page of a board, or change its settings. The settings determine what the page "+
			"shows and what guests may do. Confidential boards cannot have a public page.",
		UpdatePublicPage, op.Admin, op.Application, op.Unkeyed)
	op.Command(r, "renew_public_page", "POST /boards/{boardId}/public-page/renew",
		"Give the public page of a board a new URL. The old URL stops working immediately.",
		RenewPublicPage, op.Admin, op.Application, op.Unkeyed)
	op.Query(r, "list_trashed_boards", "GET /workspaces/{workspaceId}/trash",
		"List the boards in a workspace's trash that the caller can restore.", ListTrashedBoards, op.Application)
}

func registerJobs(r *op.Registry) {
	r.In("Jobs", "Imports, copies and moves that take longer than one request.")
	op.Query(r, "get_job", "GET /jobs/{jobId}", "Get the state and progress of a job that the caller started.", GetJob)
	op.Query(r, "list_jobs", "GET /workspaces/{workspaceId}/jobs",
		"List the caller's jobs in a workspace, newest first. By default, a server keeps jobs for 30 days after they end.", ListJobs)
	op.Command(r, "cancel_job", "POST /jobs/{jobId}/cancel",
		"Cancel a job that the caller started, and delete its partial result. Has no effect if the job has ended, "+
			"is moving a list, or has already made its result visible.",
		CancelJob, op.Destructive)
}

func registerLists(r *op.Registry) {
	r.In("Lists", "The columns of a board.")
	op.Query(r, "list_lists", "GET /boards/{boardId}/lists", "List the lists of a board, in order.", ListLists,
		op.Cached(basis[ListListsInput]))
	op.Query(r, "get_list", "GET /lists/{listId}", "Get a list. Archived lists are included.", GetList, op.NoTool)
	op.Command(r, "create_list", "POST /boards/{boardId}/lists", "Create a list on a board.", CreateList, op.Creates)
	op.Command(r, "update_list", "PATCH /lists/{listId}", "Change a list's name or WIP limit.", UpdateList)
	op.Command(r, "move_list", "POST /lists/{listId}/move", "Move a list to another position on its board.", MoveList)
	op.Long(r, "move_list_to_board", "POST /lists/{listId}/move-to-board",
		"Move a list with all its cards to another board. Labels are matched by name and color. The response "+
			"lists the dropped labels and assignees. Letting more people see it requires the "+
			"admin scope. A large list is moved by a job: its cards leave the old board, the list moves, and "+
			"then the cards appear on the new board. The list cannot be changed until the job ends.",
		MoveListToBoard, movedListOfJob, op.Destructive)
	op.Long(r, "copy_list", "POST /lists/{listId}/copy",
		"Copy a list and its cards, except archived ones, on its board. The copies are not done. A large list "+
			"is copied by a job.",
		CopyList, listOfJob, op.Creates)
	op.Command(r, "archive_list", "POST /lists/{listId}/archive",
		"Archive a list together with its cards. The cards cannot be changed until the list is "+
			"restored.", ArchiveList)
	op.Command(r, "restore_list", "POST /lists/{listId}/restore",
		"Restore an archived list together with its cards. A board admin can also restore a deleted list, with the admin scope.",
		RestoreList)
	op.Command(r, "delete_list", "DELETE /lists/{listId}",
		"Delete an archived list together with its cards. A board admin can restore it from the trash within 30 days. "+
			"After that, it is deleted permanently.",
		DeleteList, op.Admin, op.NoTool)
}

func registerCards(r *op.Registry) {
	r.In("Cards", "Single pieces of work.")
	op.Query(r, "list_cards", "GET /boards/{boardId}/cards",
		"List the cards of a board. A card must match every filter. Within a filter, values separated by commas are "+
			"alternatives, except in labelAll and assigneeAll, where the card must match all of them.",
		ListCards, op.Cached(basisOfCards), op.Expands(expandCards))
	op.Query(r, "get_card", "GET /cards/{cardId}", "Get a card with its checklists.", GetCard, op.Cached(basis[CardInput]),
		op.Expands(expandCard))
	op.Query(r, "get_card_by_number", "GET /boards/{boardId}/cards/by-number/{number}",
		"Get the card with a number on a board, with its checklists. A card that moves to another board gets a new number.",
		GetCardByNumber, op.NoTool, op.Cached(basis[CardByNumberInput]), op.Expands(expandCard))
	op.Command(r, "create_card", "POST /cards", "Create a card in a list.", CreateCard, op.Creates)
	op.Command(r, "create_cards", "POST /boards/{boardId}/cards",
		"Create up to 100 cards in lists of a board. Either all of them are created, or none.", CreateCards, op.Creates)
	op.Command(r, "update_card", "PATCH /cards/{cardId}",
		"Change a card's title or description, or whether it is done.", UpdateCard)
	op.Command(r, "update_cards", "PATCH /boards/{boardId}/cards",
		"Change up to 100 cards of a board, in the same way or, with changes, in different ways. Moves, labels, assigns, "+
			"schedules, completes, archives or comments on the cards. Either all of them change, or none.", UpdateCards)
	op.Command(r, "move_card", "POST /cards/{cardId}/move",
		"Move a card to a position in a list on the same board.", MoveCard)
	op.Command(r, "move_card_to_board", "POST /cards/{cardId}/move-to-board",
		"Move a card to a list on another board. The card keeps its id and gets a new number. Labels are matched by "+
			"name and color. The response lists the dropped labels and assignees. Letting more "+
			"people see it requires the admin scope.",
		MoveCardToBoard, op.Destructive)
	op.Command(r, "copy_card", "POST /cards/{cardId}/copy",
		"Copy a card, on its own board or to another board. The copy is not done. Copying to another board sends no "+
			"events. Letting more people see it requires the admin scope.",
		CopyCard, op.Creates, op.Destructive)
	op.Command(r, "archive_card", "POST /cards/{cardId}/archive", "Archive a card.", ArchiveCard)
	op.Command(r, "restore_card", "POST /cards/{cardId}/restore", "Restore an archived card to its list. "+
		"A board admin can also restore a deleted card, with the admin scope.", RestoreCard)
	op.Command(r, "delete_card", "DELETE /cards/{cardId}",
		"Delete an archived card. A board admin can restore it from the trash within 30 days. After that, it is deleted "+
			"permanently.",
		DeleteCard, op.Admin, op.NoTool)
	op.Command(r, "set_card_labels", "PATCH /cards/{cardId}/labels",
		"Add labels to a card and remove others. Returns all labels of the card after the change.", SetCardLabels)
	op.Command(r, "set_card_assignees", "PATCH /cards/{cardId}/assignees",
		"Assign people to a card and unassign others. Returns all assignees of the card after the change.",
		SetCardAssignees)
	op.Command(r, "set_card_due", "PUT /cards/{cardId}/due",
		"Set when a card is due and when work on it starts. A date that is absent stays unchanged; null clears "+
			"it. A time of day requires a time zone.",
		SetCardDue)
	op.Command(r, "clear_card_due", "DELETE /cards/{cardId}/due",
		"Clear the due date and the start date of a card.", ClearCardDue)
	op.Query(r, "list_checklists", "GET /cards/{cardId}/checklists",
		"List the checklists of a card with their items.", ListChecklists, op.Cached(basis[CardInput]))
	op.Query(r, "get_checklist", "GET /checklists/{checklistId}", "Get a checklist with its items.", GetChecklist, op.NoTool)
	op.Command(r, "add_checklist", "POST /cards/{cardId}/checklists",
		"Add a checklist to a card, optionally with items.", AddChecklist, op.Creates)
	op.Command(r, "update_checklist", "PATCH /checklists/{checklistId}", "Change a checklist's title.", UpdateChecklist)
	op.Command(r, "delete_checklist", "DELETE /checklists/{checklistId}", "Delete a checklist with its items.", DeleteChecklist)
	op.Command(r, "add_checklist_item", "POST /checklists/{checklistId}/items",
		"Add an item to a checklist.", AddChecklistItem, op.Creates)
	op.Command(r, "update_checklist_item", "PATCH /checklist-items/{itemId}",
		"Change a checklist item's title or position, or whether it is done.", UpdateChecklistItem)
	op.Command(r, "delete_checklist_item", "DELETE /checklist-items/{itemId}", "Delete a checklist item.", DeleteChecklistItem)
}

func registerComments(r *op.Registry) {
	r.In("Comments", "Discussions on cards.")
	op.Query(r, "list_comments", "GET /cards/{cardId}/comments",
		"List the comments of a card, oldest first by default.", ListComments, op.Cached(basis[ListCommentsInput]))
	op.Query(r, "get_comment", "GET /comments/{commentId}", "Get a comment.", GetComment, op.NoTool)
	op.Command(r, "add_comment", "POST /cards/{cardId}/comments", "Comment on a card.", AddComment, op.Creates)
	op.Command(r, "edit_comment", "PATCH /comments/{commentId}",
		"Change the text of a comment. Only its author can edit it.", EditComment)
	op.Command(r, "delete_comment", "DELETE /comments/{commentId}",
		"Delete a comment. Authors can delete their own comments. Board admins can delete any comment.", DeleteComment)
}

func registerLabels(r *op.Registry) {
	r.In("Labels", "Colored tags for the cards of a board.")
	op.Query(r, "list_labels", "GET /boards/{boardId}/labels",
		"List the labels of a board, sorted by name.", ListLabels, op.Cached(basis[ListLabelsInput]))
	op.Query(r, "get_label", "GET /labels/{labelId}", "Get a label.", GetLabel, op.NoTool)
	op.Command(r, "create_label", "POST /boards/{boardId}/labels",
		"Create a label on a board.", CreateLabel, op.Creates)
	op.Command(r, "update_label", "PATCH /labels/{labelId}", "Change a label's name or color.", UpdateLabel)
	op.Command(r, "delete_label", "DELETE /labels/{labelId}",
		"Delete a label and remove it from all cards. An event is recorded for each card that is not archived and had the "+
			"label.",
		DeleteLabel, op.InSlices(removeLabelInSlices))
}

func registerSearchAndSavedFilters(r *op.Registry) {
	r.In("Search and saved filters", "Card queries, and queries saved for later.")
	op.Query(r, "search_cards", "GET /search",
		"Search cards on every board that the caller can see. The most recently changed cards come first; "+
			"over MCP, those with matching titles. "+searchGrammar,
		SearchCards, op.Search, op.Report, op.Echoes[SearchedQuery](), op.Expands(expandCards))
	op.Query(r, "list_saved_filters", "GET /saved-filters",
		"List the saved filters of a workspace that the caller can see. Returns the caller's own filters and those "+
			"that members share. Guests see only their own.",
		ListSavedFilters)
	op.Query(r, "get_saved_filter", "GET /saved-filters/{filterId}",
		"Get a saved filter that the caller can see.", GetSavedFilter, op.NoTool)
	op.Command(r, "create_saved_filter", "POST /saved-filters",
		"Save a query as a filter, for the caller alone or shared with the workspace.", CreateSavedFilter, op.Creates)
	op.Command(r, "update_saved_filter", "PATCH /saved-filters/{filterId}",
		"Change a saved filter's name or query, or whether it is shared. Owners and admins of the workspace "+
			"can change any shared filter.",
		UpdateSavedFilter)
	op.Command(r, "delete_saved_filter", "DELETE /saved-filters/{filterId}",
		"Delete a saved filter. Owners and admins of the workspace can delete any shared filter.", DeleteSavedFilter)
	op.Query(r, "list_filter_cards", "GET /saved-filters/{filterId}/cards",
		"List the cards that match a saved filter, on all boards of its workspace that the caller can see. "+
			"The other filters narrow the result.",
		ListFilterCards, op.Report)
}

// Deleted is the result of an operation that deletes or removes an object.
type Deleted struct {
	ID string `json:"id" doc:"The id of the object that was deleted or removed." example:"lbl_01jb2m3n4p5q6r7s8t9v0w1x2y"`
}
