package board

import (
	"slices"
	"strings"
)

// Kind names a kind of event. The catalog below describes each kind.
type Kind string

// The kinds of events. Each has an entry in the catalog.
const (
	KindCardCreated          Kind = "card.created"
	KindCardUpdated          Kind = "card.updated"
	KindCardMoved            Kind = "card.moved"
	KindCardReordered        Kind = "card.reordered"
	KindCardCompleted        Kind = "card.completed"
	KindCardReopened         Kind = "card.reopened"
	KindCardArchived         Kind = "card.archived"
	KindCardRestored         Kind = "card.restored"
	KindCardDeleted          Kind = "card.deleted"
	KindCardAssigneesChanged Kind = "card.assignees_changed"
	KindCardLabelsChanged    Kind = "card.labels_changed"
	KindCardDueDateChanged   Kind = "card.due_date_changed"
	KindCardDue              Kind = "card.due"
	KindCardOverdue          Kind = "card.overdue"
	KindCommentAdded         Kind = "comment.added"
	KindCommentEdited        Kind = "comment.edited"
	KindCommentDeleted       Kind = "comment.deleted"
	KindChecklistAdded       Kind = "checklist.added"
	KindChecklistUpdated     Kind = "checklist.updated"
	KindChecklistDeleted     Kind = "checklist.deleted"
	KindItemAdded            Kind = "checklist_item.added"
	KindItemUpdated          Kind = "checklist_item.updated"
	KindItemCompleted        Kind = "checklist_item.completed"
	KindItemReopened         Kind = "checklist_item.reopened"
	KindItemDeleted          Kind = "checklist_item.deleted"
	KindCardCoverChanged     Kind = "card.cover_changed"
	KindAttachmentAdded      Kind = "attachment.added"
	KindAttachmentRenamed    Kind = "attachment.renamed"
	KindAttachmentRemoved    Kind = "attachment.removed"
	KindListCreated          Kind = "list.created"
	KindListUpdated          Kind = "list.updated"
	KindListMoved            Kind = "list.moved"
	KindListMovedAway        Kind = "list.moved_away"
	KindListMovedIn          Kind = "list.moved_in"
	KindListArchived         Kind = "list.archived"
	KindListRestored         Kind = "list.restored"
	KindListDeleted          Kind = "list.deleted"
	KindLabelCreated         Kind = "label.created"
	KindLabelUpdated         Kind = "label.updated"
	KindLabelDeleted         Kind = "label.deleted"
	KindStatusPosted         Kind = "status.posted"
	KindBoardCreated         Kind = "board.created"
	KindBoardUpdated         Kind = "board.updated"
	KindBoardArchived        Kind = "board.archived"
	KindBoardRestored        Kind = "board.restored"
	KindBoardTrashed         Kind = "board.trashed"
	KindBoardImported        Kind = "board.imported"
	KindBoardMemberAdded     Kind = "board_member.added"
	KindBoardMemberUpdated   Kind = "board_member.updated"
	KindBoardMemberRemoved   Kind = "board_member.removed"
	KindRuleCreated          Kind = "rule.created"
	KindRuleUpdated          Kind = "rule.updated"
	KindRuleDeleted          Kind = "rule.deleted"
	KindRuleSwitchedOn       Kind = "rule.switched_on"
	KindRuleSwitchedOff      Kind = "rule.switched_off"
	KindWebhookTest          Kind = "webhook.test"
)

// KindInfo describes a kind of event. The enumerations, tables and types of all
// interfaces are derived from it.
type KindInfo struct {
	Kind       Kind
	When       string // a sentence that says when the event is emitted
	Note       string // an addition to When in the reference; may be empty
	Unrecorded bool   // the activity of a board never contains it

	Webhook bool         // webhooks can subscribe to it; if so, the next three fields are required
	Label   string       // for the list of events to subscribe to
	Short   string       // for the delivery log
	Sample  func() Event // a sample event with the payload for webhooks

	Triggers []Trigger // the rule triggers that it can fire

	Notifies bool   // people can be notified of it
	Verb     string // such as "moved a card"; "" if people who only watch the card or board are not notified
}

// catalog lists all kinds in the order of the reference.
var catalog = []KindInfo{
	{
		Kind: KindCardCreated, When: "A card is created.",
		Webhook: true, Label: "A card is created", Short: "Card created",
		Sample:   func() Event { return CardCreated(sampleCard(), "") },
		Triggers: []Trigger{OnCardCreated, OnCardEntered, OnLabelAdded, OnPersonAssigned, OnDueSet},
		Notifies: true, Verb: "added a card",
	},
	{
		Kind: KindCardUpdated, When: "A card's title or description changes.", Note: "`changed` holds `title`, `description` or both.",
		Webhook: true, Label: "A title or description changes", Short: "Card changed",
		Sample:   func() Event { return CardUpdated(sampleCard(), Changes{"title": {}}) },
		Triggers: []Trigger{OnCardUpdated}, Notifies: true,
	},
	{
		Kind: KindCardMoved, When: "A card moves to another list.", Note: "Moves to another board are described below.",
		Webhook: true, Label: "A card moves to another list", Short: "Card moved",
		Sample:   func() Event { return CardMoved(sampleCard(), "lst_01jb2m3n4p5q6r7s8t9v0w1x2z", "", "") },
		Triggers: []Trigger{OnCardEntered, OnCardLeft},
		Notifies: true, Verb: "moved a card",
	},
	{Kind: KindCardReordered, When: "A card moves within its list."},
	{
		Kind: KindCardCompleted, When: "A card is marked done.",
		Webhook: true, Label: "A card is marked done", Short: "Card done",
		Sample:   func() Event { return CardCompleted(sampleCard()) },
		Triggers: []Trigger{OnCardCompleted}, Notifies: true, Verb: "completed a card",
	},
	{
		Kind: KindCardReopened, When: "A card is marked not done.",
		Webhook: true, Label: "A card is marked not done", Short: "Card not done",
		Sample:   func() Event { return CardReopened(sampleCard()) },
		Triggers: []Trigger{OnCardReopened}, Notifies: true, Verb: "reopened a card",
	},
	{
		Kind: KindCardArchived, When: "A card is archived.",
		Webhook: true, Label: "A card is archived", Short: "Card archived",
		Sample:   func() Event { return CardArchived(sampleCard()) },
		Triggers: []Trigger{OnCardArchived}, Notifies: true, Verb: "archived a card",
	},
	{
		Kind: KindCardRestored, When: "A card is restored.",
		Webhook: true, Label: "A card is restored", Short: "Card restored",
		Sample:   func() Event { return CardRestored(sampleCard(), nil, "") },
		Triggers: []Trigger{OnCardRestored}, Notifies: true, Verb: "restored a card",
	},
	{Kind: KindCardDeleted, When: "A card is deleted."},
	{
		Kind: KindCardAssigneesChanged, When: "People are added to or removed from a card.",
		Webhook: true, Label: "People are added or removed", Short: "People changed",
		Sample:   func() Event { return CardAssigneesChanged(sampleCard(), nil, []string{samplePerson}, []string{}) },
		Triggers: []Trigger{OnPersonAssigned, OnPersonUnassigned}, Notifies: true,
	},
	{
		Kind: KindCardLabelsChanged, When: "Labels are added to or removed from a card.", Note: "Also emitted when a label is deleted.",
		Webhook: true, Label: "Labels change", Short: "Labels changed",
		Sample:   func() Event { return CardLabelsChanged(sampleCard(), nil, []string{sampleLabel}, []string{}) },
		Triggers: []Trigger{OnLabelAdded, OnLabelRemoved},
	},
	{
		Kind: KindCardDueDateChanged, When: "A card's due date or start changes.",
		Webhook: true, Label: "The due date changes", Short: "Due date changed",
		Sample:   func() Event { before := "2026-03-07"; return CardDueDateChanged(sampleCard(), Due{DueDate: &before}) },
		Triggers: []Trigger{OnDueSet, OnDueCleared}, Notifies: true, Verb: "changed a due date",
	},
	{
		Kind: KindCardDue, When: "A card's due time approaches.", Unrecorded: true,
		Triggers: []Trigger{OnDueSoon}, Notifies: true,
	},
	{Kind: KindCardOverdue, When: "A card becomes overdue.", Unrecorded: true, Triggers: []Trigger{OnOverdue}},
	{
		Kind: KindCommentAdded, When: "Someone comments on a card.",
		Webhook: true, Label: "Someone comments", Short: "Comment added",
		Sample:   func() Event { return CommentAdded(sampleCard(), Comment{ID: "cmt_01jb2m3n4p5q6r7s8t9v0w1x2y"}) },
		Triggers: []Trigger{OnCommentAdded}, Notifies: true,
	},
	{Kind: KindCommentEdited, When: "A comment is edited.", Notifies: true},
	{Kind: KindCommentDeleted, When: "A comment is deleted."},
	{Kind: KindChecklistAdded, When: "A checklist is added to a card."},
	{Kind: KindChecklistUpdated, When: "A checklist is renamed."},
	{Kind: KindChecklistDeleted, When: "A checklist is deleted."},
	{Kind: KindItemAdded, When: "An item is added to a checklist."},
	{Kind: KindItemUpdated, When: "A checklist item is renamed or moved."},
	{
		Kind: KindItemCompleted, When: "A checklist item is marked done.",
		Webhook: true, Label: "A checklist item is done", Short: "Checklist item done",
		Sample:   func() Event { return ItemCompleted(sampleCard(), sampleItem()) },
		Triggers: []Trigger{OnItemCompleted, OnChecklistCompleted},
	},
	{Kind: KindItemReopened, When: "A checklist item is marked not done."},
	{Kind: KindItemDeleted, When: "A checklist item is deleted."},
	{Kind: KindCardCoverChanged, When: "The picture on a card's tile changes."},
	{Kind: KindAttachmentAdded, When: "A file or link is added to a card, or a removed one is restored."},
	{Kind: KindAttachmentRenamed, When: "A file or link on a card is renamed."},
	{Kind: KindAttachmentRemoved, When: "A file or link is removed from a card."},
	{
		Kind: KindListCreated, When: "A list is created.",
		Webhook: true, Label: "A list is created", Short: "List created",
		Sample:   func() Event { return ListCreated(sampleList(), "") },
		Triggers: []Trigger{OnListCreated},
	},
	{Kind: KindListUpdated, When: "A list's name or WIP limit changes."},
	{Kind: KindListMoved, When: "A list moves on its board."},
	{Kind: KindListMovedAway, When: "A list moves to another board; emitted on the board that it leaves."},
	{Kind: KindListMovedIn, When: "A list moves to another board; emitted on the board that it enters."},
	{
		Kind: KindListArchived, When: "A list is archived.",
		Webhook: true, Label: "A list is archived", Short: "List archived",
		Sample:   func() Event { return ListArchived(sampleList()) },
		Triggers: []Trigger{OnListArchived},
	},
	{Kind: KindListRestored, When: "A list is restored."},
	{Kind: KindListDeleted, When: "A list is deleted with its cards."},
	{Kind: KindLabelCreated, When: "A label is created."},
	{Kind: KindLabelUpdated, When: "A label's name or color changes."},
	{Kind: KindLabelDeleted, When: "A label is deleted."},
	{
		Kind: KindStatusPosted, When: "A status update is posted on a board.",
		Webhook: true, Label: "A status update is posted", Short: "Status update posted",
		Sample:   func() Event { return StatusPosted(StatusUpdate{ID: "sts_01jb2m3n4p5q6r7s8t9v0w1x2y"}) },
		Triggers: []Trigger{OnStatusPosted}, Notifies: true, Verb: "posted a status update",
	},
	{Kind: KindBoardCreated, When: "A board is created."},
	{Kind: KindBoardUpdated, When: "A board's settings change."},
	{Kind: KindBoardArchived, When: "A board is archived."},
	{Kind: KindBoardRestored, When: "A board is restored from the archive or the trash."},
	{Kind: KindBoardTrashed, When: "A board is moved to the trash."},
	{Kind: KindBoardImported, When: "A board is imported from another product."},
	{Kind: KindBoardMemberAdded, When: "A person gets a role on a board.", Notifies: true},
	{Kind: KindBoardMemberUpdated, When: "A person's role on a board changes."},
	{Kind: KindBoardMemberRemoved, When: "A person's role on a board is removed."},
	{Kind: KindRuleCreated, When: "A rule is created."},
	{Kind: KindRuleUpdated, When: "A rule changes."},
	{Kind: KindRuleDeleted, When: "A rule is deleted."},
	{Kind: KindRuleSwitchedOn, When: "A person enables a rule."},
	{Kind: KindRuleSwitchedOff, When: "A person disables a rule."},
	{
		Kind: KindWebhookTest, When: "A person sends a test event.", Note: "It is sent regardless of `events`.", Unrecorded: true,
		Webhook: true, Label: "A test event is sent", Short: "Test event",
		Sample: func() Event {
			return Event{Kind: KindWebhookTest, Data: WebhookRef{WebhookID: "whk_01jb2m3n4p5q6r7s8t9v0w1x2y"}}
		},
	},
}

// Kinds returns the catalog of event kinds, in the order of the reference.
func Kinds() []KindInfo { return slices.Clone(catalog) }

// When returns a sentence that says when an event of the kind is emitted. It
// returns "" for a kind that is not in the catalog.
func (k Kind) When() string {
	info, _ := k.Info()
	return info.When
}

// Info returns the entry of a kind in the catalog. It returns false for a
// kind that is not in the catalog.
func (k Kind) Info() (KindInfo, bool) {
	i := slices.IndexFunc(catalog, func(i KindInfo) bool { return i.Kind == k })
	if i < 0 {
		return KindInfo{Kind: k}, false
	}
	return catalog[i], true
}

func kindsWhere(is func(KindInfo) bool) []Kind {
	out := []Kind{}
	for _, i := range catalog {
		if is(i) {
			out = append(out, i.Kind)
		}
	}
	return out
}

// ActivityKinds returns the kinds that the activity of a board can contain.
func ActivityKinds() []Kind { return kindsWhere(func(i KindInfo) bool { return !i.Unrecorded }) }

// WebhookKinds returns all kinds that a webhook can subscribe to. Test events
// are also sent without a subscription.
func WebhookKinds() []Kind { return kindsWhere(func(i KindInfo) bool { return i.Webhook }) }

// RuleKinds returns the kinds that can trigger a rule.
func RuleKinds() []Kind { return kindsWhere(func(i KindInfo) bool { return len(i.Triggers) > 0 }) }

// NotifyingKinds returns the kinds that people can be notified of.
func NotifyingKinds() []Kind { return kindsWhere(func(i KindInfo) bool { return i.Notifies }) }

var kindsByTrigger = func() map[Trigger][]Kind {
	out := map[Trigger][]Kind{}
	for _, i := range catalog {
		for _, t := range i.Triggers {
			out[t] = append(out[t], i.Kind)
		}
	}
	return out
}()

// Kinds returns the kinds of events that can fire the trigger. Initial values of
// a card count as changes. The caller must not change the result.
func (t Trigger) Kinds() []Kind { return kindsByTrigger[t] }

// KindList returns the sentences that list the kinds for a use, for the description
// of a field. Use is activity, webhook, rule or notification. KindList returns "" for
// any other use.
func KindList(use string) string {
	list := map[string]func() []Kind{
		"activity": ActivityKinds, "webhook": WebhookKinds, "rule": RuleKinds, "notification": NotifyingKinds,
	}[use]
	if list == nil {
		return ""
	}
	names := []string{}
	for _, k := range list() {
		names = append(names, string(k))
	}
	return "One of " + strings.Join(names, ", ") + ". New kinds may be added."
}
