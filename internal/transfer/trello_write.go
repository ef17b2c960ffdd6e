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

// noteRepairs counts texts from which forbidden characters were removed, or in
// which half of a surrogate pair was replaced.
func (p *plan) noteRepairs(was, is string) {
	if strings.TrimSpace(was) != is && was != is {
		p.report.note("Texts with control characters, removed", is)
	}
	if strings.ContainsRune(is, '\ufffd') {
		p.report.note("Texts with broken characters, now U+FFFD", is)
	}
}

// noteLeftovers counts what cannot be imported.
func (p *plan) noteLeftovers() {
	f := p.file
	for _, d := range f.CustomFields {
		p.report.note("Custom fields", d.Name)
	}
	for _, of := range []struct {
		what string
		here func(c *trelloCard) int
	}{
		{"Values of custom fields", func(c *trelloCard) int { return int(c.CustomFieldItems) }},
		{"Attachments", func(c *trelloCard) int { return int(c.Attachments) }},
		{"Covers", func(c *trelloCard) int {
			return one(c.Cover.IDAttachment || c.Cover.IDUploadedBackground || c.Cover.Color)
		}},
		{"Stickers", func(c *trelloCard) int { return int(c.Stickers) }},
		{"Votes", func(c *trelloCard) int { return max(int(c.IDMembersVoted), whole(c.Badges.Votes)) }},
		{"Locations of cards", func(c *trelloCard) int { return one(c.Address || c.Coordinates || c.LocationName) }},
		{"Card templates, now cards", func(c *trelloCard) int { return one(c.IsTemplate) }},
		{"Mirrors, links and separators, now cards", func(c *trelloCard) int { return one(c.CardRole) }},
		{"Subscriptions to cards", func(c *trelloCard) int { return one(c.Subscribed) }},
		{"Power-up data of cards", func(c *trelloCard) int { return int(c.PluginData) }},
	} {
		for i := range f.Cards {
			p.report.notes(of.what, of.here(&f.Cards[i]), f.Cards[i].Name)
		}
	}
	p.report.notes("Power-up data of the board", int(f.PluginData))
	for _, name := range p.history.powerUps {
		p.report.note("Power-ups", name)
	}
	p.report.notes("Power-ups", max(0, int(f.PowerUps)-len(p.history.powerUps)))
	p.report.notes("Board templates, now boards", one(f.Prefs.IsTemplate))
	lists := one(f.Subscribed)
	for _, l := range f.Lists {
		lists += one(l.Subscribed)
	}
	p.report.notes("Subscriptions to the board and its lists", lists)
	p.noteMissingComments()
	p.noteHistory()
}

// noteMissingComments compares the comments with the numbers on the cards,
// because an export contains only the latest 1,000 actions.
func (p *plan) noteMissingComments() {
	for _, c := range p.cards {
		if p.byCard[c.source.ID] == c {
			p.report.notes("Comments that Trello left out of the file (it exports the latest 1,000 "+
				"actions)", max(0, whole(c.source.Badges.Comments)-len(c.comments)), c.Title)
		}
	}
}

func (p *plan) noteHistory() {
	kinds := slices.SortedFunc(maps.Keys(p.history.others), func(a, b string) int {
		return cmp.Or(cmp.Compare(p.history.others[b], p.history.others[a]), cmp.Compare(a, b))
	})
	for _, k := range kinds {
		n := p.history.others[k]
		p.report.notes("Other actions of the history", n, fmt.Sprintf("%s %d", excerpt(k, 40), n))
	}
}

func one(b present) int {
	if b {
		return 1
	}
	return 0
}

// whole returns a count from a file, clamped to a reasonable range.
func whole(n float64) int { return int(min(max(n, 0), 1e6)) }

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
			c.comments[n].ID = d.NewID("cmt_") // in order of their times
		}
		whole := store.WholeCard{CardDetail: board.CardDetail{Card: c.Card, Checklists: c.checklists}, CommentList: c.comments}
		if err := d.Card(ctx, &whole); err != nil {
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
	made := p.report.Boards[0]
	if err := d.Emit(ctx, p.board.ID, board.BoardEvent(board.KindBoardImported, board.Changes{
		"name": {To: p.board.Name}, "source": {To: "Trello"}, "lists": {To: made.Lists}, "cards": {To: made.Cards},
	})); err != nil {
		return err
	}
	return d.EndBoard(ctx, p.board.ID, 0)
}
