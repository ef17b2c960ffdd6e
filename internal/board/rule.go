package board

import "slices"

// Trigger is the kind of event that triggers a rule.
type Trigger string

// The triggers of rules. Triggers about a list, a label or a person can be
// narrowed to one of them.
const (
	OnCardCreated        Trigger = "card_created"
	OnCardEntered        Trigger = "card_entered" // created in a list, or moved to it
	OnCardLeft           Trigger = "card_left"
	OnCardUpdated        Trigger = "card_updated"
	OnCardCompleted      Trigger = "card_completed"
	OnCardReopened       Trigger = "card_reopened"
	OnCardArchived       Trigger = "card_archived"
	OnCardRestored       Trigger = "card_restored"
	OnLabelAdded         Trigger = "label_added"
	OnLabelRemoved       Trigger = "label_removed"
	OnPersonAssigned     Trigger = "person_assigned"
	OnPersonUnassigned   Trigger = "person_unassigned"
	OnDueSet             Trigger = "due_set"
	OnDueCleared         Trigger = "due_cleared"
	OnCommentAdded       Trigger = "comment_added"
	OnItemCompleted      Trigger = "item_completed"
	OnChecklistCompleted Trigger = "checklist_completed"
	OnDueSoon            Trigger = "due_soon" // a number of hours before the card is due
	OnOverdue            Trigger = "overdue"
	OnListCreated        Trigger = "list_created"
	OnListArchived       Trigger = "list_archived"
	OnStatusPosted       Trigger = "status_posted"
)

// Timed reports whether the trigger depends on time and not on a change.
func (t Trigger) Timed() bool { return t == OnDueSoon || t == OnOverdue }

// AboutCard reports whether the trigger concerns a card.
func (t Trigger) AboutCard() bool {
	return t != OnListCreated && t != OnListArchived && t != OnStatusPosted
}

// TakesList reports whether the trigger can be narrowed to a list.
func (t Trigger) TakesList() bool {
	return t == OnCardCreated || t == OnCardEntered || t == OnCardLeft
}

// TakesLabel reports whether the trigger can be narrowed to a label.
func (t Trigger) TakesLabel() bool { return t == OnLabelAdded || t == OnLabelRemoved }

// TakesPerson reports whether the trigger can be narrowed to a person.
func (t Trigger) TakesPerson() bool { return t == OnPersonAssigned || t == OnPersonUnassigned }

// Limits of automation that are the same for all plans.
const (
	MaxRuleHours     = 30 * 24          // maximum hours before a due time
	RuleChain        = 8                // maximum length of a chain of rules that trigger each other
	RuleCauseRuns    = 100              // maximum runs from one cause, directly or through other rules
	RuleCardRuns     = 30               // maximum runs on one card per minute
	RuleFailures     = 20               // consecutive failed runs after which a rule is disabled
	RuleRunLifetime  = DeliveryLifetime // how long a run is kept in the log
	DryRunCards      = 50               // maximum cards that a dry run checks
	RuleEventHistory = 500              // maximum events that a dry run checks
)

// RuleWhen is the trigger of a rule with its parameters.
type RuleWhen struct {
	Event   Trigger `json:"event" enum:"card_created,card_entered,card_left,card_updated,card_completed,card_reopened,card_archived,card_restored,label_added,label_removed,person_assigned,person_unassigned,due_set,due_cleared,comment_added,item_completed,checklist_completed,due_soon,overdue,list_created,list_archived,status_posted" doc:"The event that triggers the rule. card_entered: a card was created in a list or moved to it. due_soon: a card that is not done is due in the given number of hours." example:"card_entered"`
	ListID  *string `json:"listId" required:"false" maxLength:"64" doc:"Limits card_created, card_entered or card_left to the list with this id. Absent or null means any list." example:"lst_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	LabelID *string `json:"labelId" required:"false" maxLength:"64" doc:"Limits label_added or label_removed to the label with this id. Absent or null means any label." example:"lbl_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	UserID  *string `json:"userId" required:"false" maxLength:"64" doc:"Limits person_assigned or person_unassigned to the person with this id. Absent or null means any person." example:"usr_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Hours   *int    `json:"hours" required:"false" minimum:"1" maximum:"720" doc:"For due_soon, how many hours before the due time the rule runs. Required for due_soon." example:"24"`
}

// RuleAction is an operation that a rule performs. Input is the operation's
// input without the card, which is the card that triggered the rule.
type RuleAction struct {
	Operation string         `json:"operation" enum:"move_card,update_card,archive_card,set_card_labels,set_card_assignees,set_card_due,clear_card_due,add_checklist,add_comment,create_card" doc:"The operation to perform." example:"update_card"`
	Input     map[string]any `json:"input" required:"false" doc:"The operation's input, without cardId. These placeholders in texts are replaced: {today} and {today+3} with a date, {card} with the card's title, {number} with its number, {list} with the name of its list, and {actor} with the name of the person who triggered the rule. In a list of user ids, {actor} is replaced with that person's id." example:"{\"done\":true}"`
}

// RuleActions returns the operations that a rule can perform.
func RuleActions() []string {
	return []string{
		"move_card", "update_card", "archive_card", "set_card_labels", "set_card_assignees", "set_card_due", "clear_card_due",
		"add_checklist", "add_comment", "create_card",
	}
}

// NeedsCard reports whether the action is performed on the card that triggered
// the rule.
func (a RuleAction) NeedsCard() bool {
	return a.Operation != "create_card" && slices.Contains(RuleActions(), a.Operation)
}

// RuleOff is the reason why a rule is off; empty if it is on.
type RuleOff string

// The reasons why a rule is off.
const (
	RuleOn         RuleOff = ""
	RulePaused     RuleOff = "paused"   // paused by a person
	RuleOffOwner   RuleOff = "owner"    // its owner is no longer an admin of the board
	RuleOffFailing RuleOff = "failures" // too many consecutive failed runs
)

// Rule performs actions when an event happens on its board.
type Rule struct {
	ID        string       `json:"id" doc:"The rule's id. It is also the actor id of changes that the rule makes." example:"rul_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	BoardID   string       `json:"boardId" doc:"The id of the board." example:"brd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Name      string       `json:"name" doc:"The rule's name." example:"Done is done"`
	When      RuleWhen     `json:"when" doc:"The trigger."`
	If        string       `json:"if" doc:"A query in the search grammar that the card must match when the rule runs; empty if there is no condition. me is the rule's owner, and today is the current day in the owner's time zone." example:"label:bug -is:done"`
	Then      []RuleAction `json:"then" doc:"The actions, in order. If one is refused, none takes effect."`
	On        bool         `json:"on" doc:"Whether the rule is enabled." example:"true"`
	OffReason *RuleOff     `json:"offReason" enum:"paused,owner,failures" doc:"Why the rule is disabled. paused: a person disabled it. owner: its owner is no longer an admin of the board. failures: 20 runs in a row failed. null if the rule is enabled." example:"paused"`
	OffAt     *Instant     `json:"offAt" format:"date-time" doc:"When the rule was disabled; null if it is enabled." example:"2026-03-02T09:00:00.000Z"`
	Owner     UserRef      `json:"owner" doc:"The person whose permissions the rule uses. The owner is the person who last changed what the rule does, or last enabled it."`
	LastRunAt *Instant     `json:"lastRunAt" format:"date-time" doc:"When the rule last ran successfully; null if it never has." example:"2026-03-02T09:00:00.000Z"`
	CreatedAt Instant      `json:"createdAt" format:"date-time" doc:"When the rule was created." example:"2026-03-01T09:00:00.000Z"`
	UpdatedAt Instant      `json:"updatedAt" format:"date-time" doc:"When a person last changed the rule." example:"2026-03-02T09:00:00.000Z"`

	Since     int64   `json:"-"` // changes up to this version do not trigger it
	WatchedAt Instant `json:"-"` // times up to this one do not trigger it
	TimeZone  string  `json:"-"` // the owner's time zone
}

// RunStatus is the result of a run.
type RunStatus string

// The results of a run.
const (
	RunDone    RunStatus = "done"    // all actions succeeded
	RunFailed  RunStatus = "failed"  // an action was refused, so none took effect
	RunRefused RunStatus = "refused" // it did not start, because of a loop limit, a quota or the board's state
)

// RuleRun is one run of a rule.
type RuleRun struct {
	ID        string    `json:"id" doc:"The run's id." example:"run_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	RuleID    string    `json:"ruleId" doc:"The id of the rule." example:"rul_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	RuleName  string    `json:"ruleName" doc:"The rule's name." example:"Done is done"`
	BoardID   string    `json:"boardId" doc:"The id of the board." example:"brd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Type      Kind      `json:"type" doc:"The kind of event that triggered the rule; card.due or card.overdue for time-based triggers." kinds:"rule" example:"card.moved"`
	CardID    *string   `json:"cardId" doc:"The id of the card that triggered the rule; null if there is none." example:"crd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	CardTitle *string   `json:"cardTitle" doc:"The card's title; null if the card is no longer on the board." example:"Write the press release"`
	At        Instant   `json:"at" format:"date-time" doc:"When the rule ran." example:"2026-03-02T09:00:00.000Z"`
	Status    RunStatus `json:"status" enum:"done,failed,refused" doc:"The result of the run. done: all actions succeeded. failed: an action was refused, so none took effect. refused: the run did not start." example:"done"`
	Reason    string    `json:"reason" doc:"Why the run failed or was refused; empty if it succeeded." example:""`
	Actions   int       `json:"actions" doc:"The number of actions performed." example:"2"`
	Version   *int64    `json:"boardVersion" doc:"The boardVersion of the event that triggered the rule; null for time-based triggers." example:"42"`
}

// RuleChanged is the event of a change to the board's rules. It appears only in
// the activity.
func RuleChanged(k Kind, id string, changes Changes) Event {
	from, to := any(id), any(id)
	switch k {
	case KindRuleCreated:
		from = nil
	case KindRuleDeleted:
		to = nil
	}
	changes["ruleId"] = FromTo{from, to}
	return Event{Kind: k, Changes: changes}
}
