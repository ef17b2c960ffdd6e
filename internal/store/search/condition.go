package search

import (
	"strings"

	"cardwall/internal/board"
	"cardwall/internal/query"
	"cardwall/internal/sqldb"
)

const (
	always = "1 = 1"
	never  = "1 = 0"
)

// A card is archived if it was archived itself or its list is archived. The conditions
// refer to the card c and its list l. Archiving or restoring a list does not write to its
// cards.
const (
	OpenCard     = "c.archived_at IS NULL AND l.archived_at IS NULL"
	ArchivedCard = "(c.archived_at IS NOT NULL OR l.archived_at IS NOT NULL) AND " + ShownList
)

// ShownList is a condition that is true unless the list l is hidden: a job is still writing
// it, or it is in the trash. Such a list is archived, so conditions for open lists already
// exclude it.
const ShownList = "l.trashed_at IS NULL AND l.id NOT IN (SELECT jl.list_id FROM job_lists jl)"

// Compiler translates queries to SQL conditions on the card c and its list l. The SQL is
// the same for both databases. It refers to other tables only in subqueries, so that each
// card is in the result once. The names in a query must be resolved to ids first.
type Compiler struct {
	Args       *sqldb.Args
	Caller     board.Caller
	Workspaces []string // keys of the workspaces to search, see WorkspaceKey; used only by Candidates
}

// Archived returns the condition that selects open cards, archived cards or both.
func (Compiler) Archived(a query.Archived) string {
	switch a {
	case query.ArchivedOnly:
		return ArchivedCard
	case query.ArchivedAll:
		return ShownList
	case query.ArchivedNo:
	}
	return OpenCard
}

// Condition returns the condition for a query. The condition may be NULL if the card
// lacks a value. In SQL, AND and OR handle NULL correctly, and the condition for Not
// treats NULL as false.
func (c Compiler) Condition(n query.Node) string {
	switch n := n.(type) {
	case query.And:
		return c.join(n, " AND ", always)
	case query.Or:
		return c.join(n, " OR ", never)
	case query.Not:
		return "(" + c.Condition(n.Node) + ") IS NOT TRUE"
	case query.In:
		return c.in(n)
	case query.Has:
		return c.has(n.Thing)
	case query.IsDone:
		return "c.done_at IS NOT NULL"
	case query.IsArchived:
		return ArchivedCard
	case query.ChecklistIs:
		if n.Complete {
			return "(c.items_total > 0 AND c.items_done = c.items_total)"
		}
		return "c.items_done < c.items_total"
	case query.StatusIs:
		return `(SELECT s.status FROM status_updates s WHERE s.board_id = c.board_id
			ORDER BY s.created_at DESC, s.id DESC LIMIT 1) IN (` + c.Args.In(n.Any) + ")"
	case query.Range:
		return c.within(n)
	case query.Text:
		return c.text(n)
	}
	panic("search: unknown query node")
}

func (c Compiler) join(nodes []query.Node, operator, empty string) string {
	if len(nodes) == 0 {
		return empty
	}
	parts := make([]string, len(nodes))
	for i, n := range nodes {
		parts[i] = c.Condition(n)
	}
	return "(" + strings.Join(parts, operator) + ")"
}

// in returns the condition that the card refers to one of the given records. People can
// also be given by email address, which matches only on boards of workspaces where the
// caller is an owner or admin.
func (c Compiler) in(n query.In) string {
	var ways []string
	if len(n.IDs) > 0 {
		ways = append(ways, c.refers(n.Ref, c.Args.In(n.IDs)))
	}
	if len(n.Emails) > 0 {
		way := c.refers(n.Ref, "SELECT u.id FROM users u WHERE u.email IN ("+c.Args.In(n.Emails)+")")
		if !c.Caller.System {
			way = "(" + way + ` AND EXISTS (SELECT 1 FROM boards e JOIN workspace_members em ON em.workspace_id = e.workspace_id
				WHERE e.id = c.board_id AND em.user_id = ` + c.Args.Add(c.Caller.UserID) + " AND em.role IN ('owner', 'admin')))"
		}
		ways = append(ways, way)
	}
	if len(ways) == 0 {
		return never
	}
	return "(" + strings.Join(ways, " OR ") + ")"
}

// refers returns the condition that one of the card's records is in a list. A card has few
// labels and assignees, but the list may be long. IS TRUE makes SQLite read the card's
// labels or assignees instead of looking up each value of the list.
func (Compiler) refers(to query.Ref, list string) string {
	switch to {
	case query.RefList:
		return "c.list_id IN (" + list + ")"
	case query.RefBoard:
		return "c.board_id IN (" + list + ")"
	case query.RefLabel:
		return "EXISTS (SELECT 1 FROM card_labels k WHERE k.card_id = c.id AND (k.label_id IN (" + list + ")) IS TRUE)"
	case query.RefMember:
		return "EXISTS (SELECT 1 FROM card_assignees k WHERE k.card_id = c.id AND (k.user_id IN (" + list + ")) IS TRUE)"
	case query.RefCreator:
		return "c.created_by IN (" + list + ")"
	case query.RefCommenter:
		return "EXISTS (SELECT 1 FROM comments m WHERE m.card_id = c.id AND m.author_id IN (" + list + "))"
	}
	return never
}

func (Compiler) has(thing query.Thing) string {
	switch thing {
	case query.ThingDescription:
		return "c.description <> ''"
	case query.ThingChecklist:
		return "EXISTS (SELECT 1 FROM checklists k WHERE k.card_id = c.id)"
	case query.ThingComment:
		return "c.comments > 0"
	case query.ThingAttachment:
		return "c.attachments > 0"
	case query.ThingDue:
		return "c.due_date IS NOT NULL"
	case query.ThingStart:
		return "c.start_date IS NOT NULL"
	case query.ThingAssignee:
		return "EXISTS (SELECT 1 FROM card_assignees k WHERE k.card_id = c.id)"
	case query.ThingLabel:
		return "EXISTS (SELECT 1 FROM card_labels k WHERE k.card_id = c.id)"
	case query.ThingCreator:
		return "c.created_by IS NOT NULL"
	}
	return never
}

// within returns the condition that a time of the card is in a half-open interval. It
// compares the instant if there is one, and otherwise the date.
func (c Compiler) within(n query.Range) string {
	at, day := "", ""
	switch n.Field {
	case query.FieldDue:
		at, day = "c.due_at", "c.due_date"
	case query.FieldStart:
		at, day = "c.start_at", "c.start_date"
	case query.FieldCreated:
		at = "c.created_at"
	case query.FieldUpdated:
		at = "c.updated_at"
	case query.FieldCompleted:
		at = "c.done_at"
	}
	var instants, days []string
	for _, side := range []struct {
		edge       query.Edge
		comparison string
	}{{n.From, " >= "}, {n.To, " < "}} {
		if side.edge.Bounded() {
			instants = append(instants, at+side.comparison+c.Args.Add(int64(side.edge.At)))
			if day != "" {
				days = append(days, day+side.comparison+c.Args.Add(side.edge.Day))
			}
		}
	}
	if day == "" {
		return "(" + strings.Join(instants, " AND ") + ")"
	}
	return "((" + strings.Join(instants, " AND ") + " OR " + at + " IS NULL AND " + strings.Join(days, " AND ") + ")" + c.Near(n) + ")"
}

// Near returns a condition, preceded by AND, that a range of due times implies and that
// can use the index cards_span. It returns "" for other fields. It allows for one more
// day on each side, because the date of a card that is due at an instant differs from the
// instant's date in UTC by at most a day.
func (c Compiler) Near(n query.Range) (text string) {
	if n.Field != query.FieldDue {
		return ""
	}
	if n.From.Bounded() {
		day := min(n.From.Day, n.From.At.Time().AddDate(0, 0, -1).Format(board.DateLayout))
		text += " AND COALESCE(c.due_date, c.start_date) >= " + c.Args.Add(day)
	}
	if n.To.Bounded() {
		day := max(n.To.Day, n.To.At.Time().AddDate(0, 0, 1).Format(board.DateLayout))
		text += " AND COALESCE(c.due_date, c.start_date) <= " + c.Args.Add(day)
	}
	return text
}

// text returns the condition that an index entry of the card contains the words next to
// each other. Words consist of letters, marks and digits, so they contain no LIKE
// wildcards. The LIMIT keeps PostgreSQL from reading the whole search index for a few
// cards.
func (c Compiler) text(n query.Text) string {
	return "EXISTS (SELECT 1 FROM texts t WHERE t.card_id = c.id AND " + c.holds(n) + " LIMIT 1 OFFSET 0)"
}

// holds returns the condition that the index entry t is in the given place and contains
// the words.
func (c Compiler) holds(n query.Text) string {
	pattern := "% " + strings.Join(n.Words, " ")
	if !n.Prefix {
		pattern += " "
	}
	condition := "t.words LIKE " + c.Args.Add(pattern+"%")
	if n.Place != query.Anywhere {
		condition = "t.place = " + c.Args.Add(string(n.Place)) + " AND " + condition
	}
	return condition
}

// Candidates returns a query that uses an index to select the ids of the cards that
// satisfy a node. It returns ok = false if no index can serve the node. If probe is set,
// the query reads only the index. It may then return more rows, and values other than the
// ids. The caller uses such a query to estimate the number of candidates.
func (c Compiler) Candidates(d sqldb.Dialect, n query.Node, probe bool) (text string, ok bool) {
	switch n := n.(type) {
	case query.Or:
		parts := make([]string, len(n))
		for i, m := range n {
			if parts[i], ok = c.Candidates(d, m, probe); !ok {
				return "", false
			}
		}
		return strings.Join(parts, " UNION ALL "), len(parts) > 0 && len(parts) <= MaxProbes
	case query.In:
		if len(n.IDs) == 0 || len(n.Emails) > 0 {
			return "", false
		}
		switch n.Ref {
		case query.RefLabel:
			return "SELECT k.card_id FROM card_labels k WHERE k.label_id IN (" + c.Args.In(n.IDs) + ")", true
		case query.RefMember:
			return "SELECT k.card_id FROM card_assignees k WHERE k.user_id IN (" + c.Args.In(n.IDs) + ")", true
		case query.RefList, query.RefBoard, query.RefCreator, query.RefCommenter:
		}
	case query.Text:
		match, ok := match(d, n, c.Workspaces)
		switch {
		case !ok:
			return "", false
		case probe:
			return found(d, c.Args.Add(match)), true
		}
		return "SELECT t.card_id FROM texts t WHERE " + matches(d, c.Args.Add(match)) + " AND " + c.holds(n), true
	}
	return "", false
}
