package transfer

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// noteRepairs reports text from which control characters were removed, or in which
// U+FFFD replaces invalid characters, such as half of a surrogate pair.
func (p *plan) noteRepairs(before, after string) {
	if strings.TrimSpace(before) != after && before != after {
		p.report.note("Control characters, removed", after)
	}
	if strings.ContainsRune(after, '\ufffd') {
		p.report.note("Invalid characters, now U+FFFD", after)
	}
}

// noteSkipped reports how many objects of each unsupported type were skipped.
func (p *plan) noteSkipped() {
	f := p.file
	for i := range f.CustomFields {
		p.report.note("Custom fields, whose values are now in descriptions", f.CustomFields[i].Name)
	}
	covered := map[*trelloCard]bool{}
	for _, c := range p.cards {
		covered[c.source] = c.covered()
	}
	for _, skipped := range []struct {
		what  string
		count func(c *trelloCard) int
	}{
		{"Covers", func(c *trelloCard) int { return countOf(present(c.hasCover() && !covered[c])) }},
		{"Stickers", func(c *trelloCard) int { return int(c.Stickers) }},
		{"Votes", func(c *trelloCard) int { return max(int(c.IDMembersVoted), clampCount(c.Badges.Votes)) }},
		{"Card templates, now cards", func(c *trelloCard) int { return countOf(c.IsTemplate) }},
		{"Mirror cards, link cards and separators, now cards", func(c *trelloCard) int { return countOf(c.CardRole) }},
		{"Card subscriptions", func(c *trelloCard) int { return countOf(c.Subscribed) }},
		{"Card power-up data", func(c *trelloCard) int { return int(c.PluginData) }},
	} {
		for i := range f.Cards {
			p.report.notes(skipped.what, skipped.count(&f.Cards[i]), f.Cards[i].Name)
		}
	}
	p.report.notes("Board power-up data", int(f.PluginData))
	for _, name := range p.history.powerUps {
		p.report.note("Power-ups", name)
	}
	p.report.notes("Power-ups", max(0, int(f.PowerUps)-len(p.history.powerUps)))
	p.report.notes("Board templates, now boards", countOf(f.Prefs.IsTemplate))
	lists := countOf(f.Subscribed)
	for _, l := range f.Lists {
		lists += countOf(l.Subscribed)
	}
	p.report.notes("Board and list subscriptions", lists)
	p.noteMissingComments()
	p.noteHistory()
}

// noteMissingComments reports comments that a card counts but the file does not
// contain. Comments are actions, and Trello exports only the latest 1,000 actions.
func (p *plan) noteMissingComments() {
	for _, c := range p.cards {
		if p.byCard[c.source.ID] == c {
			p.report.notes("Comments that are not in the file (Trello exports only the latest 1,000 "+
				"actions)", max(0, clampCount(c.source.Badges.Comments)-len(c.comments)), c.Title)
		}
	}
}

func (p *plan) noteHistory() {
	kinds := slices.SortedFunc(maps.Keys(p.history.otherActions), func(a, b string) int {
		return cmp.Or(cmp.Compare(p.history.otherActions[b], p.history.otherActions[a]), cmp.Compare(a, b))
	})
	for _, k := range kinds {
		n := p.history.otherActions[k]
		p.report.notes("Other actions in the history", n, fmt.Sprintf("%s %d", excerpt(k, 40), n))
	}
}

// countOf returns 1 for a value that is present, and otherwise 0.
func countOf(b present) int {
	if b {
		return 1
	}
	return 0
}

// clampCount converts a count from a file to an int from 0 to 1,000,000.
func clampCount(n float64) int { return int(min(max(n, 0), 1e6)) }

func (p *plan) count() board.ImportedBoard {
	c := board.ImportCounts{Lists: len(p.lists), Cards: len(p.cards), Labels: len(p.labels)}
	for _, card := range p.cards {
		c.Checklists += len(card.checklists)
		c.Items += card.ChecklistItems.Total
		c.Comments += len(card.comments)
	}
	return board.ImportedBoard{ID: p.board.ID, Name: p.board.Name, ImportCounts: c}
}

// write adds the planned board to a draft.
func (p *plan) write(ctx context.Context, d *store.Draft, progress Progress) error {
	if err := d.Board(ctx, &p.board); err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(p.roles)) {
		if err := d.Member(ctx, p.board.ID, id, p.roles[id]); err != nil {
			return err
		}
	}
	for i := range p.lists {
		if err := d.List(ctx, &p.lists[i]); err != nil {
			return err
		}
	}
	for i := range p.labels {
		if err := d.Label(ctx, &p.labels[i]); err != nil {
			return err
		}
	}
	for i, c := range p.cards {
		for n := range c.comments {
			c.comments[n].ID = d.NewID("cmt_") // comments are listed in the order of their ids
		}
		for n := range c.attachments {
			a := &c.attachments[n]
			a.ID = d.NewID("att_") // attachments are listed in the order of their ids
			if a.Cover {
				c.Cover = &board.Cover{AttachmentID: a.ID, Width: *a.Width, Height: *a.Height}
			}
		}
		full := store.WholeCard{CardDetail: board.CardDetail{Card: c.Card, Checklists: c.checklists}, CommentList: c.comments,
			AttachmentList: c.attachments}
		if err := d.Card(ctx, &full); err != nil {
			return err
		}
		if i%pageSize == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			if progress != nil {
				progress(i, len(p.cards))
			}
		}
	}
	counts := p.report.Boards[0]
	if err := d.Emit(ctx, p.board.ID, board.BoardEvent(board.KindBoardImported, board.Changes{
		"name": {To: p.board.Name}, "source": {To: "Trello"}, "lists": {To: counts.Lists}, "cards": {To: counts.Cards},
	})); err != nil {
		return err
	}
	return d.EndBoard(ctx, p.board.ID, 0)
}
