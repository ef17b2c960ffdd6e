package transfer

import (
	"cmp"
	"fmt"
	"net/url"
	"path"

	"cardwall/internal/board"
)

// planAttachments adds the links and files of the cards. A file that was not downloaded
// becomes a link to where Trello stores it.
func (p *plan) planAttachments() {
	for _, c := range p.cards {
		for _, in := range c.source.Attachments.value {
			a := in.value
			switch {
			case !a.isLink(): // keptText keeps the address
				continue
			case len(c.attachments) >= p.limits.Attachments:
				p.report.note("Attachments over the limit for a card", c.Title)
				continue
			}
			c.attachments = append(c.attachments, p.attachment(c, a))
		}
	}
}

// attachment returns an attachment of a card. If it is the card's cover, its field Cover is true.
func (p *plan) attachment(c *plannedCard, in trelloAttachment) board.Attachment {
	at, _ := p.instant(in.Date)
	at = cmp.Or(at, instantOfID(in.ID, p.now), c.CreatedAt)
	a := board.Attachment{CardID: c.ID, BoardID: c.BoardID, Name: in.URL, URL: &in.URL, CreatedAt: at, UpdatedAt: at}
	if u := p.people.member(in.IDMember); u != nil {
		a.CreatedBy = &u.ID
	}
	if !board.Blank(in.Name) {
		a.Name = p.title("attachment", in.Name)
	}
	a.Name = board.LinkName(a.Name)
	if p.files == nil || !in.IsUpload {
		return a
	}
	stored, problem := p.files.file(in)
	if problem != "" {
		p.report.note(fmt.Sprintf("Attached files that were not downloaded (%s), now links", problem), a.Name)
	}
	if stored == nil {
		return a
	}
	name := in.Name
	if u, err := url.Parse(in.URL); board.Blank(name) && err == nil {
		name = path.Base(u.Path)
	}
	a.Name, a.Kind, a.URL = board.FileName(name), board.AttachedFile, nil
	a.Blob, a.SHA256, a.Size = stored.Blob, &stored.Blob.Hash, &stored.Size
	a.MediaType, a.Width, a.Height = &stored.MediaType, stored.Width, stored.Height
	if in.ID != "" && in.ID == c.source.coverID() && !c.covered() {
		a.Cover = a.CanBeCover()
	}
	return a
}

// covered reports whether an attachment of the card is its cover.
func (c *plannedCard) covered() bool {
	for _, a := range c.attachments {
		if a.Cover {
			return true
		}
	}
	return false
}
