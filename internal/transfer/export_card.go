package transfer

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cardwall/internal/board"
)

// cards writes the cards of a board, list by list.
func (out *writer) cards(boardID string, n *countsRecord) error {
	return out.eachList(boardID, func(l board.List) error {
		var after string
		for {
			if err := out.ctx.Err(); err != nil {
				return err
			}
			page, err := out.v.ExportCards(out.ctx, l.ID, after, cardPageSize)
			if err != nil || len(page) == 0 {
				return err
			}
			if err := out.cardPage(page, n); err != nil {
				return err
			}
			after = page[len(page)-1].Rank
		}
	})
}

func (out *writer) cardPage(page []board.Card, n *countsRecord) error {
	ids := make([]string, len(page))
	for i, c := range page {
		ids[i] = c.ID
	}
	checklists, comments, err := out.v.CardsWithDetails(out.ctx, ids)
	if err != nil {
		return err
	}
	for _, c := range page {
		r := struct {
			CardRecord
			Comments commentStream `json:"comments"`
		}{cardOf(c), commentStream{}}
		if checklists[c.ID] {
			if r.Checklists, err = out.checklists(c.ID, n); err != nil {
				return err
			}
		}
		if c.Attachments > 0 {
			if r.Attachments, err = out.attachments(c.ID, n); err != nil {
				return err
			}
		}
		if comments[c.ID] {
			r.Comments = commentStream{out, c.ID, n}
		}
		n.Cards++
		if err := out.value(r); err != nil {
			return err
		}
	}
	return nil
}

func cardOf(c board.Card) CardRecord {
	r := CardRecord{ID: c.ID, ListID: c.ListID, Number: c.Number, Title: c.Title, Description: *c.Description, DoneAt: c.DoneAt,
		ArchivedAt: c.ArchivedAt, ArchivedBy: c.ArchivedBy,
		Due: c.Due, CreatedBy: c.CreatedBy, CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt}
	for _, l := range c.Labels {
		r.Labels = append(r.Labels, l.ID)
	}
	for _, u := range c.Assignees {
		r.Assignees = append(r.Assignees, u.ID)
	}
	return r
}

func (out *writer) checklists(cardID string, n *countsRecord) ([]checklistRecord, error) {
	lists, err := out.v.Checklists(out.ctx, cardID)
	if err != nil {
		return nil, err
	}
	records := make([]checklistRecord, len(lists))
	for i, k := range lists {
		n.Checklists++
		r := checklistRecord{ID: k.ID, Title: k.Title, CreatedAt: k.CreatedAt, UpdatedAt: k.UpdatedAt}
		for _, it := range k.Items {
			n.Items++
			r.Items = append(r.Items, itemRecord{ID: it.ID, Title: it.Title, DoneAt: it.DoneAt, CreatedAt: it.CreatedAt, UpdatedAt: it.UpdatedAt})
		}
		records[i] = r
	}
	return records, nil
}

func (out *writer) attachments(cardID string, n *countsRecord) (records []attachmentRecord, err error) {
	err = pages(func(after string) ([]board.Attachment, error) {
		return out.v.Attachments(out.ctx, cardID, after, cardPageSize)
	}, func(a board.Attachment) (string, error) {
		records = append(records, attachmentRecord{ID: a.ID, Name: a.Name, URL: a.URL, MediaType: a.MediaType, Size: a.Size, SHA256: a.SHA256,
			Cover: a.Cover, CreatedBy: a.CreatedBy, CreatedAt: a.CreatedAt, UpdatedAt: a.UpdatedAt})
		n.Attachments++
		if a.Kind == board.AttachedFile && out.file != nil {
			out.file(a)
		}
		return a.ID, nil
	})
	return records, err
}

// commentStream encodes the comments of a card as it reads them, because their
// number is not limited. The zero value is encoded as an empty array.
type commentStream struct {
	out    *writer
	cardID string
	counts *countsRecord
}

// MarshalJSONTo writes the comments as an array.
func (s commentStream) MarshalJSONTo(enc *jsontext.Encoder) error {
	if err := enc.WriteToken(jsontext.BeginArray); err != nil {
		return err
	}
	if s.out != nil {
		if err := s.write(enc); err != nil {
			return err
		}
	}
	return enc.WriteToken(jsontext.EndArray)
}

func (s commentStream) write(enc *jsontext.Encoder) error {
	return pages(func(after string) ([]board.Comment, error) {
		return s.out.v.Comments(s.out.ctx, s.cardID, after, cardPageSize)
	}, func(m board.Comment) (string, error) {
		r := commentRecord{ID: m.ID, GuestName: m.GuestName, Text: m.Text, CreatedAt: m.CreatedAt, EditedAt: m.EditedAt}
		if m.Author != nil {
			r.Author = &m.Author.ID
		}
		s.counts.Comments++
		return m.ID, json.MarshalEncode(enc, r)
	})
}
