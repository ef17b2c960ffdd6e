package app_test

import (
	"context"
	"errors"
	"time"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

// samples contains a function for each operation. The function returns an input with which the
// operation succeeds for the person that world.as returns, usually the owner. It creates objects that
// only this operation needs, such as a label to delete. The first call of a write with its sample
// changes something.
var samples = map[string]func(w *world) fields{
	"get_me":                 func(*world) fields { return nil },
	"list_my_cards":          func(w *world) fields { return fields{"workspaceId": w.workspace} },
	"search_cards":           func(w *world) fields { return fields{"q": "is:open", "workspaceId": w.workspace} },
	"export_board":           onBoard(nil),
	"export_workspace":       func(w *world) fields { return fields{"workspaceId": w.workspace} },
	"list_workspaces":        func(*world) fields { return nil },
	"get_workspace":          func(w *world) fields { return fields{"workspaceId": w.workspace} },
	"list_workspace_members": func(w *world) fields { return fields{"workspaceId": w.workspace} },
	"create_invitation":      func(w *world) fields { return w.invitation("new@example.com") },
	"list_invitations": func(w *world) fields {
		w.owner.Must("create_invitation", w.invitation("one@example.com"))
		w.owner.Must("create_invitation", w.invitation("two@example.com"))
		return fields{"workspaceId": w.workspace}
	},
	"withdraw_invitation": func(w *world) fields {
		return fields{"workspaceId": w.workspace,
			"invitationId": w.make("create_invitation", w.invitation("gone@example.com"))}
	},
	"download_avatar": func(w *world) fields {
		w.other.Must("set_avatar", fields{"content": apptest.Picture(40, 30)})
		return fields{"userId": w.other.ID}
	},
	"list_avatars": func(w *world) fields {
		w.owner.Must("set_avatar", fields{"content": apptest.Picture(40, 30)})
		return nil
	},
	"get_my_overview":      func(*world) fields { return nil },
	"list_recent_activity": func(*world) fields { return nil },
	"list_my_changes":      func(*world) fields { return nil },
	"get_workspace_calendar": func(w *world) fields {
		return fields{"workspaceId": w.workspace, "from": "2026-12-01", "to": "2026-12-31"}
	},
	"get_workspace_dashboard": func(w *world) fields { return fields{"workspaceId": w.workspace} },
	"list_workspace_changes":  func(w *world) fields { return fields{"workspaceId": w.workspace} },
	"get_workspace_digest":    func(w *world) fields { return fields{"workspaceId": w.workspace} },
	"get_status_update": func(w *world) fields {
		return fields{"statusUpdateId": w.make("post_status_update", fields{"boardId": w.board, "status": "on_track", "title": "Half"})}
	},
	"list_status_updates": func(w *world) fields {
		w.make("post_status_update", fields{"boardId": w.board, "status": "on_track", "title": "Begun"})
		w.make("post_status_update", fields{"boardId": w.board, "status": "at_risk", "title": "Late"})
		return fields{"boardId": w.board}
	},
	"draft_status_update": onBoard(nil),
	"post_status_update": onBoard(fields{"status": "on_track", "title": "Press kit is out", "text": "**Friday.**",
		"startDate": "2026-03-01", "targetDate": "2026-04-15"}),
	"list_boards":    func(w *world) fields { return fields{"workspaceId": w.workspace} },
	"get_board":      onBoard(nil),
	"create_board":   func(w *world) fields { return fields{"workspaceId": w.workspace, "name": "Another"} },
	"update_board":   onBoard(fields{"name": "Launch 2"}),
	"set_background": onBoard(fields{"content": apptest.Picture(40, 30)}),
	"download_background": func(w *world) fields {
		w.owner.Must("set_background", fields{"boardId": w.board, "content": apptest.Picture(40, 30)})
		return fields{"boardId": w.board}
	},
	"archive_board": func(w *world) fields { return fields{"boardId": w.newBoard()} },
	"restore_board": func(w *world) fields {
		id := w.newBoard()
		w.owner.Must("archive_board", fields{"boardId": id})
		return fields{"boardId": id}
	},
	"trash_board":        func(w *world) fields { return fields{"boardId": w.newBoard()} },
	"list_board_members": onBoard(nil),
	"share_board": func(w *world) fields {
		return fields{"boardId": w.board, "userId": w.other.ID, "role": "viewer"}
	},
	"list_trash": func(w *world) fields {
		for range 2 {
			w.owner.Must("delete_card", fields{"cardId": w.newArchivedCard()})
		}
		return fields{"boardId": w.board}
	},
	"list_board_activity": onBoard(nil),
	"get_activity": func(w *world) fields {
		return fields{"activityId": w.owner.Must("list_board_activity", fields{"boardId": w.board, "limit": 1}).Text("0.id")}
	},
	"get_board_digest":   onBoard(nil),
	"list_board_changes": onBoard(nil),
	"remove_board_member": func(w *world) fields {
		w.owner.Must("share_board", fields{"boardId": w.board, "userId": w.other.ID, "role": "commenter"})
		return fields{"boardId": w.board, "userId": w.other.ID}
	},
	"copy_board":             onBoard(fields{"name": "Launch again", "includeCards": true}),
	"save_board_as_template": onBoard(fields{"name": "A launch", "includeCards": true}),
	"list_board_templates":   func(w *world) fields { return fields{"workspaceId": w.workspace} },
	"get_board_template":     func(w *world) fields { return fields{"templateId": w.newTemplate()} },
	"delete_board_template":  func(w *world) fields { return fields{"templateId": w.newTemplate()} },
	"create_board_from_template": func(w *world) fields {
		return fields{"templateId": board.BuiltInTemplates()[0].ID, "workspaceId": w.workspace}
	},

	"get_job":    func(w *world) fields { return fields{"jobId": w.newJob()} },
	"cancel_job": func(w *world) fields { return fields{"jobId": w.newJob()} },
	"list_jobs":  func(w *world) fields { return fields{"workspaceId": w.workspace} },

	"list_lists":   onBoard(nil),
	"get_list":     func(w *world) fields { return fields{"listId": w.list} },
	"create_list":  onBoard(fields{"name": "Done"}),
	"update_list":  func(w *world) fields { return fields{"listId": w.list, "name": "Next"} },
	"move_list":    func(w *world) fields { return fields{"listId": w.list, "position": "bottom"} },
	"archive_list": func(w *world) fields { return fields{"listId": w.doing} },
	"restore_list": func(w *world) fields { return fields{"listId": w.archived} },
	"delete_list": func(w *world) fields {
		id := w.make("create_list", fields{"boardId": w.board, "name": "Gone"})
		w.owner.Must("archive_list", fields{"listId": id})
		return fields{"listId": id}
	},
	"copy_list": func(w *world) fields { return fields{"listId": w.list, "name": "Next week"} },
	"move_list_to_board": func(w *world) fields {
		return fields{"listId": w.make("create_list", fields{"boardId": w.board, "name": "On its way"}), "boardId": w.second}
	},

	"list_cards":         onBoard(nil),
	"get_card":           onCard(nil),
	"get_card_by_number": onBoard(fields{"number": 1}),
	"create_card":        func(w *world) fields { return fields{"listId": w.list, "title": "New"} },
	"create_cards": func(w *world) fields {
		return fields{"boardId": w.board, "cards": []fields{{"listId": w.list, "title": "New"}, {"listId": w.list, "title": "Newer"}}}
	},
	"update_card": onCard(fields{"title": "Two press releases"}),
	"batch": func(w *world) fields {
		return fields{"operations": []fields{{"operation": "update_card", "input": fields{"cardId": w.card, "title": "In a batch"}}}}
	},
	"update_cards": func(w *world) fields {
		return fields{"boardId": w.board, "cardIds": []string{w.newCard(), w.newCard()}, "done": true}
	},
	"undo_changes": func(w *world) fields { // the owner takes back a new card; others have made no call
		card := w.owner.Must("create_card", fields{"listId": w.list, "title": "By mistake"})
		return fields{"boardId": w.board, "since": card.Text("createdAt")}
	},
	"move_card":          func(w *world) fields { return fields{"cardId": w.card, "listId": w.list} },
	"copy_card":          onCard(fields{"title": "Press release for May", "includeAssignees": false}),
	"move_card_to_board": func(w *world) fields { return fields{"cardId": w.newCard(), "listId": w.away} },
	"archive_card":       func(w *world) fields { return fields{"cardId": w.newCard()} },
	"restore_card":       func(w *world) fields { return fields{"cardId": w.archivedCard} },
	"delete_card":        func(w *world) fields { return fields{"cardId": w.newArchivedCard()} },
	"set_card_labels":    func(w *world) fields { return fields{"cardId": w.card, "add": []string{w.label}} },
	"set_card_assignees": func(w *world) fields { return fields{"cardId": w.newCard(), "add": []string{w.owner.ID}} },
	"set_card_due":       onCard(fields{"dueDate": "2026-12-24"}),
	"clear_card_due": func(w *world) fields {
		id := w.newCard()
		w.owner.Must("set_card_due", fields{"cardId": id, "dueDate": "2026-12-24"})
		return fields{"cardId": id}
	},
	"list_checklists":  onCard(nil),
	"get_checklist":    func(w *world) fields { return fields{"checklistId": w.checklist} },
	"add_checklist":    onCard(fields{"title": "After", "items": []string{"one", "two"}}),
	"update_checklist": func(w *world) fields { return fields{"checklistId": w.checklist, "title": "Before sending"} },
	"delete_checklist": func(w *world) fields {
		return fields{"checklistId": w.make("add_checklist", fields{"cardId": w.card, "title": "Gone"})}
	},
	"add_checklist_item":    func(w *world) fields { return fields{"checklistId": w.checklist, "title": "Names"} },
	"update_checklist_item": func(w *world) fields { return fields{"itemId": w.item, "done": true} },
	"delete_checklist_item": func(w *world) fields {
		return fields{"itemId": w.make("add_checklist_item", fields{"checklistId": w.checklist, "title": "Gone"})}
	},

	"list_comments": onCard(nil),
	"get_comment":   func(w *world) fields { return fields{"commentId": w.comment} },
	"add_comment":   onCard(fields{"text": "Done."}),
	"edit_comment":  func(w *world) fields { return fields{"commentId": w.comment, "text": "Later."} },
	"delete_comment": func(w *world) fields {
		return fields{"commentId": w.make("add_comment", fields{"cardId": w.card, "text": "Gone"})}
	},

	"list_attachments":    onCard(nil),
	"add_attachment":      onCard(fields{"url": "https://example.com/brief", "name": "Brief"}),
	"get_attachment":      func(w *world) fields { return fields{"attachmentId": w.attachment} },
	"update_attachment":   func(w *world) fields { return fields{"attachmentId": w.attachment, "name": "Contract, signed"} },
	"delete_attachment":   func(w *world) fields { return fields{"attachmentId": w.newAttachment()} },
	"download_attachment": func(w *world) fields { return fields{"attachmentId": w.attachment} },
	"create_upload":       onCard(fields{"fileName": "Tour.mp4", "size": 48211160}),
	"get_upload":          func(w *world) fields { return fields{"uploadId": w.newUpload()} },
	"append_upload":       func(w *world) fields { return fields{"uploadId": w.newUpload(), "offset": 0, "content": "A film."} },
	"delete_upload":       func(w *world) fields { return fields{"uploadId": w.newUpload()} },
	"restore_attachment": func(w *world) fields {
		id := w.newAttachment()
		w.owner.Must("delete_attachment", fields{"attachmentId": id})
		return fields{"attachmentId": id}
	},

	"list_saved_filters": func(w *world) fields {
		w.newFilter()
		w.newFilter()
		return fields{"workspaceId": w.workspace}
	},
	"get_saved_filter": func(w *world) fields { return fields{"filterId": w.newFilter()} },
	"create_saved_filter": func(w *world) fields {
		return fields{"workspaceId": w.workspace, "name": "Mine", "query": "is:open"}
	},
	"update_saved_filter": func(w *world) fields { return fields{"filterId": w.newFilter(), "name": "Ours"} },
	"delete_saved_filter": func(w *world) fields { return fields{"filterId": w.newFilter()} },
	"list_filter_cards":   func(w *world) fields { return fields{"filterId": w.newFilter()} },

	"list_labels":  onBoard(nil),
	"get_label":    func(w *world) fields { return fields{"labelId": w.label} },
	"create_label": onBoard(fields{"name": "Idea", "color": "lime"}),
	"update_label": func(w *world) fields { return fields{"labelId": w.label, "name": "Defect"} },
	"delete_label": func(w *world) fields {
		return fields{"labelId": w.make("create_label", fields{"boardId": w.board, "name": "Gone", "color": "gray"})}
	},

	"get_home":   func(*world) fields { return nil },
	"open_board": onBoard(nil),
	"star_board": onBoard(nil),
	"set_collapsed_lists": func(w *world) fields {
		return fields{"boardId": w.board, "listIds": []string{w.doing}}
	},
	"unstar_board":       onBoard(nil),
	"get_public_page":    onBoard(nil),
	"update_public_page": onBoard(fields{"mode": "submit", "comments": true, "welcome": "Tell us what is missing."}),
	"renew_public_page":  onBoard(nil),
	"get_guest_page":     func(w *world) fields { return fields{"key": w.publicKey()} },
	"get_guest_card":     func(w *world) fields { return fields{"key": w.publicKey(), "number": 1} },
	"get_guest_file":     (*world).guestFile,
	"get_guest_background": func(w *world) fields {
		w.owner.Must("set_background", fields{"boardId": w.board, "content": apptest.Picture(40, 30)})
		return fields{"key": w.publicKey()}
	},
	"add_guest_comment": func(w *world) fields { return w.asGuest(fields{"number": 1, "text": "When does it open?"}) },
	"submit_guest_card": func(w *world) fields {
		return w.asGuest(fields{"title": "A map of the venue", "description": "We did not find the entrance."})
	},
	"list_trashed_boards": func(w *world) fields {
		for range 2 {
			w.owner.Must("trash_board", fields{"boardId": w.newBoard()})
		}
		return fields{"workspaceId": w.workspace}
	},

	"create_webhook":     func(w *world) fields { return w.newWebhook() },
	"delete_webhook":     func(w *world) fields { return fields{"webhookId": w.make("create_webhook", w.newWebhook())} },
	"get_webhook_sample": func(*world) fields { return fields{"event": "card.moved"} },
	"list_webhooks": func(w *world) fields {
		w.webhook()
		return fields{"workspaceId": w.workspace}
	},
	"get_webhook": onWebhook(nil),
	"get_webhook_health": func(w *world) fields {
		w.sendTest(attempt{time.Minute, 503, 310}, attempt{time.Second, 204, 84})
		return onWebhook(nil)(w)
	},
	"update_webhook": onWebhook(fields{"name": "Another bot", "url": "https://" + apptest.Receivers + "/another"}),
	"pause_webhook": func(w *world) fields {
		return fields{"webhookId": w.make("create_webhook", w.newWebhook())}
	},
	"enable_webhook":        onWebhook(nil),
	"test_webhook":          onWebhook(nil),
	"rotate_webhook_secret": onWebhook(fields{"force": true}),
	"list_deliveries": func(w *world) fields {
		w.newFailedDelivery()
		w.newFailedDelivery()
		return onWebhook(nil)(w)
	},
	"redeliver_many":     func(w *world) fields { return onWebhook(fields{"deliveryIds": []string{w.newFailedDelivery()}})(w) },
	"get_delivery":       func(w *world) fields { return fields{"deliveryId": w.newFailedDelivery()} },
	"redeliver":          func(w *world) fields { return fields{"deliveryId": w.newFailedDelivery()} },
	"get_delivery_quota": func(w *world) fields { return fields{"workspaceId": w.workspace} },

	"list_rules": func(w *world) fields {
		w.twoRules()
		return fields{"boardId": w.board}
	},
	"get_rule":    func(w *world) fields { return fields{"ruleId": w.newRule()} },
	"create_rule": func(w *world) fields { w.enableAutomation(); return w.rule() },
	"update_rule": func(w *world) fields {
		return fields{"ruleId": w.newRule(), "name": "Bugs first", "if": "label:bug",
			"then": []fields{{"operation": "move_card", "input": fields{"listId": w.list, "position": "top"}}}}
	},
	"delete_rule": func(w *world) fields { return fields{"ruleId": w.newRule()} },
	"enable_rule": func(w *world) fields {
		id := w.newRule()
		w.owner.Must("disable_rule", fields{"ruleId": id})
		return fields{"ruleId": id}
	},
	"disable_rule": func(w *world) fields { return fields{"ruleId": w.newRule()} },
	"dry_run_rule": func(w *world) fields {
		w.enableAutomation()
		in := w.rule()
		delete(in, "name")
		return in
	},
	"list_rule_runs": func(w *world) fields {
		for _, id := range w.twoRules() {
			w.addRun(id)
		}
		return fields{"boardId": w.board}
	},
	"list_notifications": func(w *world) fields {
		w.newMention()
		w.newMention()
		return nil
	},
	"get_notification_count":    func(*world) fields { return nil },
	"mark_notification":         func(w *world) fields { return fields{"notificationId": w.newMention(), "read": true} },
	"mark_all_notifications":    func(w *world) fields { w.newMention(); return nil },
	"get_notification_settings": func(*world) fields { return nil },
	"set_notification_settings": func(*world) fields { return notificationSettings(nil) },
	"unsubscribe":               func(w *world) fields { return fields{"token": w.unsubscribeToken()} },
	"watch_board":               onBoard(nil),
	"unwatch_board":             onBoard(nil),
	"get_card_watch":            onCard(nil),
	"watch_card":                onCard(nil),
	"unwatch_card":              onCard(nil),
	"get_calendar_feed":         func(*world) fields { return nil },
	"create_calendar_feed":      func(w *world) fields { return fields{"boardIds": []string{w.second}} },
	"update_calendar_feed": func(w *world) fields {
		w.owner.Must("create_calendar_feed", nil)
		return fields{"boardIds": []string{}}
	},
	"delete_calendar_feed": func(*world) fields { return nil },

	"list_audit_entries":  func(w *world) fields { return fields{"workspaceId": w.workspace} },
	"export_audit_csv":    func(w *world) fields { return fields{"workspaceId": w.workspace} },
	"export_audit_ndjson": func(w *world) fields { return fields{"workspaceId": w.workspace} },

	"get_organization":          onOrganization(nil),
	"list_organization_members": onOrganization(nil),
	"list_organizations":        func(*world) fields { return nil },
	"update_organization":       onOrganization(fields{"plan": "business"}),

	"create_workspace": func(*world) fields { return fields{"name": "Compilers"} },
	"update_workspace": func(w *world) fields { return fields{"workspaceId": w.workspace, "name": "Difference Engines"} },
	"delete_workspace": func(w *world) fields {
		return fields{"workspaceId": w.owner.Workspace("Looms", board.PlanTeam)}
	},
	"restore_workspace": func(w *world) fields { return fields{"workspaceId": w.newTrashedWorkspace(w.owner)} },
	"change_member": func(w *world) fields {
		return fields{"workspaceId": w.workspace, "userId": w.member(), "role": "admin"}
	},
	"remove_member": func(w *world) fields { return fields{"workspaceId": w.workspace, "userId": w.member()} },
	"get_invitation": func(w *world) fields {
		return fields{"secret": w.invitationTo(w.owner, w.workspace)}
	},
	"accept_invitation": func(w *world) fields {
		return fields{"secret": w.invitationTo(w.other, w.other.Workspace("Compilers", board.PlanTeam))}
	},

	"get_sign_in_options": func(*world) fields { return nil },
	"sign_up": func(*world) fields {
		return fields{"email": "grace@example.com", "name": "Grace Hopper", "password": password,
			"timeZone": "America/New_York"}
	},
	"create_account": func(w *world) fields {
		return fields{"secret": w.invitationTo(w.other, w.other.Workspace("Compilers", board.PlanTeam)),
			"name": "Grace Hopper", "password": password, "timeZone": "America/New_York"}
	},
	"verify_email": func(w *world) fields {
		email := w.unusedName() + "@example.com"
		w.owner.Must("sign_up", fields{"email": email, "name": "Grace Hopper", "password": password})
		return fields{"secret": w.emailedSecret(email)}
	},
	"sign_in":                func(w *world) fields { return fields{"email": w.withPassword(), "password": password} },
	"request_password_reset": func(w *world) fields { return fields{"email": w.owner.Email} },
	"reset_password": func(w *world) fields {
		w.owner.Must("request_password_reset", fields{"email": w.owner.Email})
		return fields{"secret": w.emailedSecret(w.owner.Email), "password": password}
	},
	"begin_passkey_sign_in":  func(*world) fields { return nil },
	"finish_passkey_sign_in": func(w *world) fields { return w.passkeySignIn() },
	"get_session":            func(*world) fields { return nil },
	"get_current_session":    func(*world) fields { return nil },
	"confirm_sign_in": func(w *world) fields {
		w.withPassword()
		return fields{"password": password}
	},
	"sign_out": func(*world) fields { return nil },
	"list_sessions": func(w *world) fields {
		w.owner.Must("get_session", nil)
		return nil
	},
	"list_wrong_passwords": func(w *world) fields {
		w.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
			return errors.Join(tx.AuditWrongPassword(ctx, w.owner.ID, "192.0.2.7"), tx.AuditWrongPassword(ctx, w.owner.ID, "192.0.2.8"))
		})
		return nil
	},
	"end_session": func(w *world) fields {
		return fields{"sessionId": w.owner.Must("get_session", nil).Text("session.id")}
	},
	"set_avatar":     func(*world) fields { return fields{"content": apptest.Picture(40, 30)} },
	"delete_avatar":  func(*world) fields { return nil },
	"update_profile": func(*world) fields { return fields{"theme": "dark", "language": "en-GB"} },
	"change_password": func(w *world) fields {
		w.withPassword()
		return fields{"currentPassword": password, "password": password}
	},
	"delete_account": func(*world) fields { return nil },
	"list_tokens": func(w *world) fields {
		if len(w.owner.Must("list_tokens", nil).Each("id")) < 2 {
			w.newToken()
		}
		return nil
	},
	"create_token": func(w *world) fields {
		return fields{"name": "Deploy script", "scopes": []string{"write"}, "workspaceId": w.workspace}
	},
	"revoke_token":  func(w *world) fields { return fields{"tokenId": w.newToken()} },
	"list_passkeys": func(w *world) fields { return w.twoPasskeys() },
	"begin_passkey": func(*world) fields { return nil },
	"finish_passkey": func(w *world) fields {
		in, _ := w.newPasskey()
		return in
	},
	"delete_passkey": func(w *world) fields {
		in, _ := w.newPasskey()
		return fields{"passkeyId": w.make("finish_passkey", in)}
	},

	"get_authorization_request": func(w *world) fields { return fields{"query": w.authorizationQuery()} },
	"allow_authorization": func(w *world) fields {
		return fields{"query": w.authorizationQuery(), "scopes": []string{"write"}, "workspaceId": w.workspace}
	},
	"get_device_request": func(w *world) fields { return fields{"userCode": w.newUserCode()} },
	"allow_device":       func(w *world) fields { return fields{"userCode": w.newUserCode(), "scopes": []string{"write"}} },
	"deny_device":        func(w *world) fields { return fields{"userCode": w.newUserCode()} },
	"list_connected_apps": func(w *world) fields {
		w.connectedClient()
		w.connectedClient()
		return nil
	},
	"disconnect_app": func(w *world) fields { return fields{"appId": w.connectedClient()} },
}

// aboutNoBoard lists the writes that change no board, apart from those that require a session or no
// account. They return no boardVersion, and they work even while the board is archived.
var aboutNoBoard = []string{
	"cancel_job", "create_invitation", "withdraw_invitation", "create_saved_filter", "update_saved_filter", "delete_saved_filter",
	"create_webhook", "delete_webhook", "update_webhook", "pause_webhook", "enable_webhook", "test_webhook",
	"rotate_webhook_secret",
	"redeliver_many", "redeliver", "star_board", "unstar_board", "set_collapsed_lists",
	"delete_board_template",
	"watch_board", "unwatch_board", "watch_card", "unwatch_card",
}
