package transfer

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"cardwall/internal/board"
)

// planCards assigns the cards to their lists, in Trello's order. It puts cards whose
// list is not in the file in a new list after the others.
func (p *plan) planCards() error {
	numbers := p.numbers()
	cardsByList := map[string][]*trelloCard{} // by the new ids of the lists
	var orphans []*trelloCard
	for _, c := range sortedByPos(p.file.Cards, func(c *trelloCard) float64 { return c.Pos }) {
		if l, ok := p.byList[c.IDList]; ok {
			cardsByList[l.ID] = append(cardsByList[l.ID], c)
			continue
		}
		p.report.note("Cards whose list is not in the file, now in the list Imported", c.Name)
		orphans = append(orphans, c)
	}
	if len(orphans) > 0 {
		if p.openLists() >= p.limits.OpenLists {
			return board.Refuse(board.CodeLimitReached, "There can be at most %d open lists on a board. The file has "+
				"cards without a list, which need one more.", p.limits.OpenLists)
		}
		if err := p.addList(board.List{Name: "Imported", WIPMode: board.WIPSoft, CreatedAt: p.now}); err != nil {
			return err
		}
		cardsByList[p.lists[len(p.lists)-1].ID] = orphans
	}
	for _, l := range p.lists {
		for _, c := range cardsByList[l.ID] {
			if err := p.addCard(l, c, numbers[c]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *plan) openLists() (n int) {
	for _, l := range p.lists {
		if l.ArchivedAt == nil {
			n++
		}
	}
	return n
}

// numbers returns the number of each card. A card keeps its Trello number if that
// number is valid and unused. The other cards get the numbers after the highest one.
func (p *plan) numbers() map[*trelloCard]int {
	sorted := sortedByPos(p.file.Cards, func(c *trelloCard) float64 { return c.IDShort })
	out := make(map[*trelloCard]int, len(sorted))
	taken := map[int]bool{}
	highest := 0
	for _, c := range sorted {
		n := c.IDShort
		if n < 1 || n > maxNumber/2 || n != math.Trunc(n) || taken[int(n)] {
			continue
		}
		out[c], taken[int(n)], highest = int(n), true, int(n)
	}
	for _, c := range sorted {
		if out[c] == 0 {
			highest++
			out[c] = highest
			p.report.note("Cards whose number differs from Trello's", c.Name)
		}
	}
	return out
}

func (p *plan) addCard(l board.List, in *trelloCard, number int) error {
	creation := p.history.created[in.ID]
	c := &plannedCard{source: in, Card: board.Card{
		ID: p.newID("crd_"), BoardID: p.board.ID, ListID: l.ID, Number: number, Title: p.title("card", in.Name),
	}}
	description := p.text(in.Name, in.Desc)
	c.Description = &description
	rank, err := board.RankBetween(p.ranks[l.ID], "")
	if err != nil {
		return err
	}
	c.Rank, p.ranks[l.ID] = rank, rank
	active, _ := p.instant(in.DateLastActivity)
	creationDate, _ := p.instant(creation.date)
	c.CreatedAt = cmp.Or(creationDate, instantOfID(in.ID, p.now), active, p.now)
	c.UpdatedAt = max(active, c.CreatedAt)
	if u := p.people.member(creation.member); u != nil {
		c.CreatedBy = &u.ID
	}
	if in.DueComplete {
		c.DoneAt = p.since(p.history.done[in.ID], in.DateCompleted, in.DateLastActivity)
	}
	if in.Closed {
		c.ArchivedAt = p.since(p.history.closed[in.ID], in.DateClosed, in.DateLastActivity)
	}
	c.ListArchivedAt = l.ArchivedAt
	p.keepText(c, p.keptText(in))
	c.Due = p.due(in)
	c.Labels = p.cardLabels(in)
	c.Assignees = p.assignees(in)
	if _, ok := p.byCard[in.ID]; ok {
		p.report.note("Cards with a duplicate id, imported without checklists and comments", in.Name)
	} else {
		p.byCard[in.ID] = c
	}
	p.cards = append(p.cards, c)
	return nil
}

// due returns the dates of a card in UTC, because the file does not name a time zone.
func (p *plan) due(in *trelloCard) board.Due {
	var d board.Due
	utc := "UTC"
	if at, ok := p.instant(in.Due); ok {
		day := at.Time().Format(board.DateLayout)
		d.DueDate, d.DueAt, d.TimeZone = &day, &at, &utc
	}
	if at, ok := p.instant(in.Start); ok {
		if d.DueAt != nil && at > *d.DueAt {
			p.report.note("Start dates after the due date, removed", in.Name)
			return d
		}
		day := at.Time().Format(board.DateLayout)
		d.StartDate, d.StartAt, d.TimeZone = &day, &at, &utc
	}
	return d
}

func (p *plan) cardLabels(in *trelloCard) []board.LabelRef {
	ids := in.IDLabels
	if len(ids) == 0 {
		for _, l := range in.Labels {
			ids = append(ids, l.ID)
		}
	}
	var out []board.LabelRef
	for _, id := range ids {
		l := p.byLabel[id]
		if l == nil {
			p.report.note("Card labels that the board does not have", in.Name)
			continue
		}
		if ref := (board.LabelRef{ID: l.ID, Name: l.Name, Color: l.Color}); !slices.Contains(out, ref) {
			out = append(out, ref)
		}
	}
	return out
}

func (p *plan) assignees(in *trelloCard) []board.UserRef {
	var out []board.UserRef
	for _, id := range in.IDMembers {
		u := p.people.member(id)
		switch {
		case u == nil:
			p.people.addUnmatched(id, in.Name)
		case !p.canSee(u.ID):
			p.report.note(fmt.Sprintf("Assignments to %s, who cannot see the board", u.Name), in.Name)
		case slices.Contains(out, board.UserRef{ID: u.ID, Name: u.Name}):
		case len(out) >= p.limits.Assignees:
			p.report.note("Assignees over the limit for a card", in.Name)
		default:
			out = append(out, board.UserRef{ID: u.ID, Name: u.Name})
		}
	}
	return out
}

func (p *plan) planChecklists() {
	for _, in := range sortedByPos(p.file.Checklists, func(k *trelloChecklist) float64 { return k.Pos }) {
		c := p.byCard[in.IDCard]
		if c == nil {
			p.report.note("Checklists whose card is not in the file", in.Name)
			continue
		}
		created := cmp.Or(instantOfID(in.ID, p.now), c.CreatedAt)
		title := p.title("checklist", in.Name)
		var items []board.ChecklistItem
		for _, i := range sortedByPos(in.CheckItems, func(i *checkItem) float64 { return i.Pos }) {
			at := cmp.Or(instantOfID(i.ID, p.now), created)
			item := board.ChecklistItem{ID: p.newID("chi_"), Title: p.itemTitle(i), CreatedAt: at, UpdatedAt: at}
			if i.State == "complete" {
				item.Done = true
				item.DoneAt = p.since(p.history.itemDone[i.ID], c.source.DateLastActivity)
				item.UpdatedAt = max(at, *item.DoneAt)
			}
			items = append(items, item)
		}
		p.addChecklist(c, board.Checklist{CardID: c.ID, Title: title, CreatedAt: created, UpdatedAt: created}, items)
	}
}

// addChecklist adds a checklist to a card. If the checklist has more items than
// allowed, it is split into several.
func (p *plan) addChecklist(c *plannedCard, k board.Checklist, items []board.ChecklistItem) {
	parts := slices.Collect(slices.Chunk(items, max(1, p.limits.Items)))
	if len(parts) == 0 {
		parts = [][]board.ChecklistItem{nil}
	}
	if len(parts) > 1 {
		p.report.note("Checklists with too many items, split into several", k.Title)
	}
	for _, part := range parts {
		if len(c.checklists) >= p.limits.Checklists {
			p.report.note("Checklists over the limit for a card", c.Title)
			return
		}
		k.ID, k.Items = p.newID("chk_"), part
		for i := range part {
			c.ChecklistItems.Total++
			if part[i].Done {
				c.ChecklistItems.Done++
			}
		}
		c.checklists = append(c.checklists, k)
	}
}

// planComments adds the comments, oldest first.
func (p *plan) planComments() {
	comments := p.history.comments
	slices.SortStableFunc(comments, func(a, b *trelloAction) int { return strings.Compare(a.Date, b.Date) })
	for _, in := range comments {
		c := p.byCard[in.Data.Card.value.ID]
		text := in.Data.Text.value
		if c == nil {
			p.report.note("Comments on a card that is not in the file", text)
			continue
		}
		if strings.TrimSpace(plainText(text)) == "" {
			p.report.note("Comments without text", c.Title)
			continue
		}
		m := board.Comment{CardID: c.ID, BoardID: c.BoardID}
		if u := p.people.member(in.author()); u != nil {
			m.Author = &board.UserRef{ID: u.ID, Name: u.Name}
		} else {
			name := p.people.name(in.author())
			p.report.note(fmt.Sprintf("Comments by %s, who is not in the workspace; their text now starts with "+
				"the name", name), c.Title)
			text = name + " (Trello):\n\n" + text
		}
		m.Text = p.text(c.Title, text)
		if m.CreatedAt, _ = p.instant(in.Date); m.CreatedAt == 0 {
			m.CreatedAt = cmp.Or(instantOfID(in.ID, p.now), c.CreatedAt)
		}
		if at, ok := p.instant(in.Data.DateLastEdited.value); ok {
			m.EditedAt = &at
		}
		c.comments = append(c.comments, m)
		c.Card.Comments++
	}
}
