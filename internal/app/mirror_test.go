package app_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"cardwall/internal/apptest"
)

// record is an object in the response of an operation.
type record = map[string]any

// failer is implemented by testing.TB and rapid.T.
type failer interface{ Fatalf(string, ...any) }

// mirror is a client's copy of a board. The client reads the board once and then applies the
// changes of list_board_changes. It takes positions only from the changes, reads an object again
// only if a change names it, and computes counts itself. If a change was not recorded or names
// the wrong object, the mirror has stale data. The mirror also stores the field values in the
// changes and compares them with the values that it reads.
type mirror struct {
	t     failer
	p     *apptest.Person
	id    string
	board record
	// lists, cards, checklists, items (with their card), comments, attachments, labels, people and
	// status updates by id
	records map[string]record
	order   cardOrder // the open lists of the board, the open cards of each list, the items of each checklist

	named   map[string]bool   // ids of objects to read again
	arrived map[string]bool   // ids of cards that came from another board with their comments and checklists
	members bool              // whether to read all members again
	fields  map[string]record // field values from the changes
	cardOf  map[string]string // the card of each object in a change
	gone    map[string]bool   // ids of objects that were deleted or have left the board
}

func newMirror(t failer, p *apptest.Person, a record) *mirror {
	m := &mirror{
		t: t, p: p, board: maps.Clone(a["get_board"].(record)), records: map[string]record{}, order: cardOrder{},
		named: map[string]bool{}, arrived: map[string]bool{}, fields: map[string]record{}, cardOf: map[string]string{},
		gone: map[string]bool{},
	}
	m.id = m.board["id"].(string)
	for _, name := range []string{"list_lists", "list_labels", "list_board_members", "list_status_updates"} {
		for _, r := range a[name].([]record) {
			m.keep(r)
		}
	}
	for _, l := range a["list_lists"].([]record) {
		if l["archivedAt"] == nil {
			m.order[m.id] = append(m.order[m.id], l["id"].(string))
		}
	}
	for list, cards := range a["list_cards"].(record) {
		for _, c := range cards.([]record) {
			m.order[list] = append(m.order[list], c["id"].(string))
		}
	}
	for id, whole := range a["get_card"].(record) {
		m.keep(whole.(record))
		for _, l := range objects(whole.(record)["checklists"]) {
			m.keep(l)
			m.order[l["id"].(string)] = []string{}
			for _, it := range objects(l["items"]) {
				m.keep(with(it, "cardId", id))
				m.order[l["id"].(string)] = append(m.order[l["id"].(string)], it["id"].(string))
			}
		}
		for _, name := range []string{"list_comments", "list_attachments"} {
			for _, c := range a[name].(record)[id].([]record) {
				m.keep(c)
			}
		}
	}
	return m
}

func objects(v any) (out []record) {
	all, _ := v.([]any)
	for _, o := range all {
		out = append(out, o.(record))
	}
	return out
}

// keep stores a record without the nested records, which are stored separately.
func (m *mirror) keep(r record) {
	r = maps.Clone(r)
	delete(r, "checklists")
	delete(r, "items")
	m.records[r["id"].(string)] = r
}

// drop removes a record and everything that belongs to it.
func (m *mirror) drop(id string) {
	delete(m.records, id)
	delete(m.order, id)
	for other, r := range m.records {
		if r["cardId"] == id || r["checklistId"] == id {
			m.drop(other)
		}
	}
}

// of returns the records of a kind.
func (m *mirror) of(prefix string) map[string]record {
	out := map[string]record{}
	for id, r := range m.records {
		if strings.HasPrefix(id, prefix) {
			out[id] = r
		}
	}
	return out
}

// state returns the expected results of the read operations; see boardState.
func (m *mirror) state() record {
	wholes, comments, attachments, open := record{}, record{}, record{}, record{}
	for id, c := range m.of("crd_") {
		card := m.card(c)
		checklists := sorted(m.of("chk_"), byID, "cardId", id)
		for i, l := range checklists {
			items := m.inOrder(l["id"].(string))
			for n := range items {
				items[n] = maps.Clone(items[n])
				delete(items[n], "cardId")
			}
			checklists[i] = with(l, "items", items)
		}
		card["checklists"] = checklists
		wholes[id], comments[id] = card, sorted(m.of("cmt_"), byID, "cardId", id)
		attachments[id] = sorted(m.of("att_"), byID, "cardId", id)
	}
	openCards, unfinished, away := 0, 0, []record{}
	for id, l := range m.of("lst_") {
		cards := m.inOrder(id)
		for i, c := range cards {
			cards[i] = m.card(c)
		}
		if len(cards) > 0 {
			open[id] = cards
		}
		l["openCards"] = 0
		if l["archivedAt"] != nil {
			away = append(away, l)
			continue
		}
		l["openCards"] = len(cards)
		openCards += len(cards)
		for _, c := range cards {
			if c["done"] == false {
				unfinished++
			}
		}
	}
	slices.SortFunc(away, byID)
	lists, labels, members := m.inOrder(m.id), sorted(m.of("lbl_"), byName), sorted(m.of("usr_"), byID)
	given := slices.DeleteFunc(slices.Clone(members), func(r record) bool { return r["given"] == nil })
	b, limits := maps.Clone(m.board), maps.Clone(m.board["limits"].(record))
	for name, n := range map[string]int{"openCards": openCards, "allCards": len(wholes), "openLists": len(lists),
		"labels": len(labels), "members": len(given)} {
		limits[name] = with(limits[name].(record), "count", n)
	}
	b["lists"], b["labels"], b["limits"] = lists, labels, limits
	b["openCards"], b["unfinishedCards"] = openCards, unfinished
	return record{
		"get_board": b, "list_lists": slices.Concat(lists, away), "list_cards": open, "get_card": wholes,
		"list_comments": comments, "list_attachments": attachments,
		"list_labels": labels, "list_board_members": members, "list_status_updates": sorted(m.of("sts_"), newestFirst),
	}
}

func (m *mirror) inOrder(parent string) []record {
	out := []record{}
	for _, id := range m.order[parent] {
		out = append(out, m.records[id])
	}
	return out
}

// card returns a card with its current labels, archived if its list is.
func (m *mirror) card(c record) record {
	labels := []record{}
	for _, l := range objects(c["labels"]) {
		if l, ok := m.records[l["id"].(string)]; ok {
			labels = append(labels, record{"id": l["id"], "name": l["name"], "color": l["color"]})
		}
	}
	slices.SortFunc(labels, byName)
	c = with(c, "labels", labels)
	if c["archivedBy"] == "card" {
		return c
	}
	c["archivedAt"], c["archivedBy"] = nil, nil
	if l := m.records[c["listId"].(string)]; l["archivedAt"] != nil {
		c["archivedAt"], c["archivedBy"] = l["archivedAt"], "list"
	}
	return c
}

// catchUp applies the changes after the mirror's version, in pages of the given size. It then reads
// the named objects again, and fails the test if their fields differ from those in the changes.
func (m *mirror) catchUp(size int) {
	in := fields{"boardId": m.id, "since": int64(m.board["version"].(float64)), "limit": size}
	for {
		a := m.p.Must("list_board_changes", in)
		for _, e := range objects(a.Data) {
			m.apply(e)
		}
		if a.Next == "" {
			break
		}
		in = with(in, "cursor", a.Next)
	}
	m.readAgain()
	m.compareFields()
}

// apply applies one change: it updates positions and notes the objects to read again.
func (m *mirror) apply(e record) {
	if before := m.board["version"].(float64); e["boardVersion"] != before+1 || e["boardId"] != m.id {
		m.t.Fatalf("version %v of %s is followed by the change %v, want the next version", before, m.id, e)
	}
	m.board["version"], m.board["updatedAt"] = e["boardVersion"], e["at"]
	changes := e["changes"].(record)
	noun, verb, _ := strings.Cut(e["type"].(string), ".")
	card, _ := e["cardId"].(string)
	list, _ := e["listId"].(string)
	m.recordFields(noun, verb, objectID(e, noun), card, changes)
	switch noun {
	case "board":
		m.named[m.id] = true
		_, visibility := changes["visibility"]
		m.members = m.members || visibility // the visibility decides who sees the board
	case "board_member":
		m.named[objectID(e, noun)] = true
		if objectID(e, noun) == m.p.ID {
			m.named[m.id] = true // the client's role may have changed
		}
	case "list":
		m.named[list] = true
		switch verb {
		case "archived":
			m.order.remove(list)
		case "moved_away":
			m.order.remove(list)
			m.drop(list)
		default:
			m.place(list, m.id, changes)
		}
	case "card":
		m.named[card] = true
		m.applyCard(verb, card, list, changes)
	case "comment", "attachment":
		m.named[card], m.named[objectID(e, noun)] = true, true
	case "checklist":
		l := objectID(e, noun)
		m.named[card], m.named[l] = true, true
		if verb == "added" {
			m.order[l] = m.nameItems(changes["items"])
		}
	case "checklist_item":
		item, l := objectID(e, noun), newOrOld(changes, "checklistId")
		m.named[card], m.named[l], m.named[item] = true, true, true
		if verb == "deleted" {
			m.order.remove(item)
		}
		m.place(item, l, changes)
	case "label", "status", "rule":
		m.named[objectID(e, noun)] = true
	default:
		m.t.Fatalf("the mirror cannot apply a change of type %s; add it to apply", e["type"])
	}
}

func (m *mirror) applyCard(verb, card, list string, changes record) {
	from, moved := changes["listId"].(record)
	archived, archivedChanged := changes["archivedAt"].(record)
	switch {
	case moved && from["to"] == nil: // to another board
		m.order.remove(card)
		m.drop(card)
		delete(m.arrived, card)
		return
	case moved && from["from"] == nil: // new here
		m.arrived[card] = true
		if came, ok := changes["checklists"].(record); ok {
			for _, l := range objects(came["to"]) {
				m.order[l["id"].(string)] = m.nameItems(record{"to": l["items"]})
			}
		}
	case verb == "cover_changed":
		for _, end := range []string{"from", "to"} {
			if id, ok := changes["coverId"].(record)[end].(string); ok {
				m.named[id] = true
			}
		}
	case m.records[card] == nil && !m.arrived[card]:
		m.t.Fatalf("card.%s refers to %s, which no change added to the board", verb, card)
	}
	if archivedChanged && archived["to"] != nil {
		m.order.remove(card)
		return
	}
	m.place(card, list, changes)
}

// place puts an object at the position in the change, if the change has one.
func (m *mirror) place(id, parent string, changes record) {
	if at, ok := changes["position"].(record); ok {
		m.order.put(m.t, id, parent, at["to"])
	}
}

func (m *mirror) nameItems(items any) []string {
	ids := []string{}
	if items, ok := items.(record); ok {
		for _, it := range objects(items["to"]) {
			m.named[it["id"].(string)] = true
			ids = append(ids, it["id"].(string))
		}
	}
	return ids
}

// objectID returns the ID of the object that changed.
func objectID(e record, noun string) string {
	changes := e["changes"].(record)
	switch noun {
	case "board":
		return e["boardId"].(string)
	case "list", "card":
		return e[noun+"Id"].(string)
	case "checklist_item":
		return newOrOld(changes, "itemId")
	case "board_member":
		return newOrOld(changes, "userId")
	case "status":
		return newOrOld(changes, "statusUpdateId")
	}
	return newOrOld(changes, noun+"Id")
}

// newOrOld returns a field's new value, or its old value if the new one is null.
func newOrOld(changes record, field string) string {
	c, _ := changes[field].(record)
	to, ok := c["to"].(string)
	if !ok {
		to, _ = c["from"].(string)
	}
	return to
}

// readAgain reads the objects that the changes named, and removes those that no longer exist.
func (m *mirror) readAgain() {
	on := fields{"boardId": m.id}
	if m.named[m.id] {
		b := m.p.Must("get_board", on).Data.(record)
		for _, field := range []string{"name", "description", "color", "background", "visibility", "features", "role", "archivedAt",
			"trashedAt"} {
			m.board[field] = b[field]
		}
	}
	m.readList("list_lists", with(on, "includeArchived", true), "lst_", false)
	m.readList("list_labels", on, "lbl_", false)
	m.readList("list_board_members", on, "usr_", m.members)
	m.readList("list_status_updates", on, "sts_", false)
	for id := range m.named {
		if strings.HasPrefix(id, "crd_") {
			m.readCard(id)
		}
	}
}

func (m *mirror) readList(name string, in fields, prefix string, all bool) {
	read, before := all, m.of(prefix)
	for id := range m.named {
		read = read || strings.HasPrefix(id, prefix)
	}
	for id := range before {
		if all || m.named[id] {
			delete(m.records, id)
		}
	}
	if !read {
		return
	}
	for _, r := range records(m.p, name, in) {
		switch id := r["id"].(string); {
		case m.named[id]:
			m.keep(r)
		case all: // the person can see the board; a new role would have been in a change
			m.keep(with(r, "given", before[id]["given"]))
		}
	}
}

func (m *mirror) readCard(id string) {
	a := m.p.Call("get_card", fields{"cardId": id})
	if a.Status == http.StatusNotFound || a.Text("boardId") != m.id {
		m.drop(id)
		return
	}
	children := map[string]record{}
	for _, l := range objects(a.Get("checklists")) {
		children[l["id"].(string)] = l
		for _, it := range objects(l["items"]) {
			children[it["id"].(string)] = with(it, "cardId", id)
		}
	}
	for _, name := range []string{"list_comments", "list_attachments"} {
		for _, c := range records(m.p, name, fields{"cardId": id}) {
			children[c["id"].(string)] = c
		}
	}
	for child, r := range m.records {
		if _, there := children[child]; r["cardId"] == id && !there && m.named[child] {
			m.drop(child)
		}
	}
	m.keep(a.Data.(record))
	for child, r := range children {
		if m.arrived[id] || m.named[child] {
			m.keep(r)
		}
	}
}

// checkReplay fails the test unless a client that starts with the state before, and applies the
// later changes in pages of the given size, gets the state after.
func checkReplay(t failer, p *apptest.Person, before, after record, size int) {
	m := newMirror(t, p, before)
	m.catchUp(size)
	if d := difference("", plain(t, m.state()), plain(t, after)); d != "" {
		t.Fatalf("applying the changes after version %v of %s does not give the current board: %s",
			before["get_board"].(record)["version"], m.id, d)
	}
}
