package store

import (
	"strconv"
	"strings"

	"cardwall/internal/board"
	"cardwall/internal/query"
)

// arguments collects the values of a text of SQL that is put together.
type arguments []any

// add takes a value and is the placeholder that stands for it.
func (a *arguments) add(v any) string {
	*a = append(*a, v)
	return "$" + strconv.Itoa(len(*a))
}

// list is the inside of IN (…) for the values, filled up with the last one to
// a power of four, so that few texts are ever prepared.
func (a *arguments) list(values []string) string {
	length := 1
	for length < len(values) {
		length *= 4
	}
	var b strings.Builder
	for i := range length {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(a.add(values[min(i, len(values)-1)]))
	}
	return b.String()
}

const (
	always = "1 = 1"
	never  = "1 = 0"
)

// compiler writes the conditions of a query as SQL over the card c and its list
// l, one text for both databases. Other tables are reached through subqueries, so a
// card is in the answer once. In has ids and emails alone: names are resolved
// before (see resolve).
type compiler struct {
	args    *arguments
	caller  board.Caller
	indexed []string // see indexedIn; for candidates alone
}

// archived is which cards the query sees at all.
func (compiler) archived(a query.Archived) string {
	switch a {
	case query.ArchivedOnly:
		return archivedCard
	case query.ArchivedAll:
		return always
	case query.ArchivedNo:
	}
	return openCard
}

// node is the condition of a node. It may be NULL for what the card lacks,
// which AND and OR of SQL carry on rightly; Not turns it into false first.
func (c compiler) node(n query.Node) string {
	switch n := n.(type) {
	case query.And:
		return c.join(n, " AND ", always)
	case query.Or:
		return c.join(n, " OR ", never)
	case query.Not:
		return "(" + c.node(n.Node) + ") IS NOT TRUE"
	case query.In:
		return c.in(n)
	case query.Has:
		return c.has(n.Thing)
	case query.IsDone:
		return "c.done_at IS NOT NULL"
	case query.IsArchived:
		return archivedCard
	case query.ChecklistIs:
		if n.Complete {
			return "(c.items_total > 0 AND c.items_done = c.items_total)"
		}
		return "c.items_done < c.items_total"
	case query.StatusIs:
		return `(SELECT s.status FROM status_updates s WHERE s.board_id = c.board_id
			ORDER BY s.created_at DESC, s.id DESC LIMIT 1) IN (` + c.args.list(n.Any) + ")"
	case query.Range:
		return c.within(n)
	case query.Text:
		return c.text(n)
	}
	panic("store: a query holds a node that is not known")
}

func (c compiler) join(nodes []query.Node, operator, empty string) string {
	if len(nodes) == 0 {
		return empty
	}
	parts := make([]string, len(nodes))
	for i, n := range nodes {
		parts[i] = c.node(n)
	}
	return "(" + strings.Join(parts, operator) + ")"
}

// in finds cards by the ids of their records, and people by their emails too
// on boards of a workspace whose owner or admin the caller is.
func (c compiler) in(n query.In) string {
	var ways []string
	if len(n.IDs) > 0 {
		ways = append(ways, c.refers(n.Ref, c.args.list(n.IDs)))
	}
	if len(n.Emails) > 0 {
		way := c.refers(n.Ref, "SELECT u.id FROM users u WHERE u.email IN ("+c.args.list(n.Emails)+")")
		if !c.caller.System {
			way = "(" + way + ` AND EXISTS (SELECT 1 FROM boards e JOIN workspace_members em ON em.workspace_id = e.workspace_id
				WHERE e.id = c.board_id AND em.user_id = ` + c.args.add(c.caller.UserID) + " AND em.role IN ('owner', 'admin')))"
		}
		ways = append(ways, way)
	}
	if len(ways) == 0 {
		return never
	}
	return "(" + strings.Join(ways, " OR ") + ")"
}

// refers is that one of the card's records is among those of a list. A card has
// few labels and people, and the list may be long: IS TRUE makes SQLite read
// those of the card, not look up each of the list.
func (compiler) refers(to query.Ref, list string) string {
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

func (compiler) has(thing query.Thing) string {
	switch thing {
	case query.ThingDescription:
		return "c.description <> ''"
	case query.ThingChecklist:
		return "EXISTS (SELECT 1 FROM checklists k WHERE k.card_id = c.id)"
	case query.ThingComment:
		return "c.comments > 0"
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

// within is that a time of the card lies in a half-open interval: an instant
// where the card has one, else its date.
func (c compiler) within(n query.Range) string {
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
			instants = append(instants, at+side.comparison+c.args.add(int64(side.edge.At)))
			if day != "" {
				days = append(days, day+side.comparison+c.args.add(side.edge.Day))
			}
		}
	}
	if day == "" {
		return "(" + strings.Join(instants, " AND ") + ")"
	}
	return "((" + strings.Join(instants, " AND ") + " OR " + at + " IS NULL AND " + strings.Join(days, " AND ") + ")" + c.near(n) + ")"
}

// near follows from a range of due times and has an index, cards_span: the date
// of a card that is due at an instant is at most a day away from that instant's
// in UTC.
func (c compiler) near(n query.Range) (text string) {
	if n.Field != query.FieldDue {
		return ""
	}
	if n.From.Bounded() {
		day := min(n.From.Day, n.From.At.Time().AddDate(0, 0, -1).Format(board.DateLayout))
		text += " AND COALESCE(c.due_date, c.start_date) >= " + c.args.add(day)
	}
	if n.To.Bounded() {
		day := max(n.To.Day, n.To.At.Time().AddDate(0, 0, 1).Format(board.DateLayout))
		text += " AND COALESCE(c.due_date, c.start_date) <= " + c.args.add(day)
	}
	return text
}

// text is that one text of the card holds the words side by side. Words are
// letters, marks and digits, so none of them is an operator of LIKE. The limit
// keeps PostgreSQL from reading all texts to answer for a few cards.
func (c compiler) text(n query.Text) string {
	return "EXISTS (SELECT 1 FROM texts t WHERE t.card_id = c.id AND " + c.holds(n) + " LIMIT 1 OFFSET 0)"
}

// holds is that the text t is of the place and holds the words.
func (c compiler) holds(n query.Text) string {
	pattern := "% " + strings.Join(n.Words, " ")
	if !n.Prefix {
		pattern += " "
	}
	condition := "t.words LIKE " + c.args.add(pattern+"%")
	if n.Place != query.Anywhere {
		condition = "t.place = " + c.args.add(string(n.Place)) + " AND " + condition
	}
	return condition
}
