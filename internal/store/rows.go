package store

import (
	"context"
	"fmt"
	"math"

	"github.com/go-json-experiment/json"

	"cardwall/internal/board"
	"cardwall/internal/query"
	"cardwall/internal/store/search"
)

// rows collects new rows by table, so that a few statements can write many rows. The rows
// can also be encoded as JSON and written later.
type rows struct {
	Users         [][]any         `json:"users,omitempty"`
	Boards        [][]any         `json:"boards,omitempty"`
	Backgrounds   []backgroundRow `json:"backgrounds,omitempty"` // and updates to boards: the version
	BoardMembers  [][]any         `json:"boardMembers,omitempty"`
	Labels        [][]any         `json:"labels,omitempty"`
	Lists         [][]any         `json:"lists,omitempty"`
	Cards         [][]any         `json:"cards,omitempty"`
	CardLabels    [][]any         `json:"cardLabels,omitempty"`
	CardAssignees [][]any         `json:"cardAssignees,omitempty"`
	Checklists    [][]any         `json:"checklists,omitempty"`
	Items         [][]any         `json:"items,omitempty"`
	Comments      [][]any         `json:"comments,omitempty"`
	Attachments   [][]any         `json:"attachments,omitempty"`
	Texts         [][]any         `json:"texts,omitempty"`
	StatusUpdates [][]any         `json:"statusUpdates,omitempty"`
	SavedFilters  [][]any         `json:"savedFilters,omitempty"`
	Activity      [][]any         `json:"activity,omitempty"`
	Moves         [][]any         `json:"moves,omitempty"` // updates to cards: the time of the first move
	Ends          [][]any         `json:"ends,omitempty"`  // updates to boards: the final counts
}

// tableRows holds the new rows of one table.
type tableRows struct {
	into string // the table and its columns
	rows *[][]any
}

// tables returns the tables in an order that satisfies foreign keys.
func (r *rows) tables() []tableRows {
	return []tableRows{
		{"boards (id, workspace_id, name, description, color, visibility, features, version, archived_at, trashed_at, " +
			"created_by, created_at, updated_at, counted_at, reduced_to)", &r.Boards},
		{"board_members (board_id, user_id, role, created_at)", &r.BoardMembers},
		{"labels (id, board_id, name, color, created_at, updated_at)", &r.Labels},
		{"lists (id, board_id, name, rank, wip_limit, wip_mode, archived_at, created_at, updated_at)", &r.Lists},
		{"cards (id, board_id, list_id, rank, number, title, done_at, archived_at, due_date, due_at, start_date, start_at, " +
			"time_zone, items_done, items_total, comments, attachments, cover_id, cover_width, cover_height, created_by, created_at, " +
			"updated_at, description)", &r.Cards},
		{"card_labels (card_id, label_id)", &r.CardLabels},
		{"card_assignees (card_id, user_id, assigned_at)", &r.CardAssignees},
		{"checklists (id, card_id, title, created_at, updated_at)", &r.Checklists},
		{"checklist_items (id, checklist_id, title, rank, done_at, created_at, updated_at)", &r.Items},
		{"comments (id, card_id, author_id, guest_name, text, created_at, edited_at)", &r.Comments},
		{attachmentInto, &r.Attachments},
		{"texts (card_id, place, ref, words)", &r.Texts},
		{"status_updates (id, board_id, status, title, text, start_date, target_date, author_id, created_at, figures)", &r.StatusUpdates},
		{"saved_filters (id, workspace_id, owner_id, name, query, shared, created_at, updated_at)", &r.SavedFilters},
		{"activity (board_id, version, id, type, at, actor_type, actor_id, list_id, card_id, changes, client, cause, program)", &r.Activity},
	}
}

// card adds a card with its checklists, comments and attachments. It sets the ranks of items,
// the ids of parents, and the card's counts.
func (r *rows) card(c *WholeCard) error {
	r.text(c.ID, query.InTitle, "", c.Title)
	r.text(c.ID, query.InDescription, "", *c.Description)
	for _, l := range c.Labels {
		r.CardLabels = append(r.CardLabels, []any{c.ID, l.ID})
	}
	for i, u := range c.Assignees { // assignees are sorted by the time of assignment
		r.CardAssignees = append(r.CardAssignees, []any{c.ID, u.ID, int64(c.CreatedAt) + int64(i)})
	}
	c.ChecklistItems = board.ItemCount{}
	for n := range c.Checklists {
		if err := r.checklist(c, &c.Checklists[n]); err != nil {
			return err
		}
	}
	c.Attachments = len(c.AttachmentList)
	for n := range c.AttachmentList {
		a := &c.AttachmentList[n]
		a.CardID = c.ID
		if n < len(c.Blobs) {
			a.Blob = c.Blobs[n]
		}
		r.Attachments = append(r.Attachments, attachmentRow(*a))
		r.text(c.ID, query.InAttachment, a.ID, a.Name)
	}
	coverID, coverWidth, coverHeight := coverColumns(c.Cover)
	c.Comments = len(c.CommentList)
	for n := range c.CommentList {
		m := &c.CommentList[n]
		m.CardID = c.ID
		r.Comments = append(r.Comments, []any{m.ID, c.ID, null(authorID(m.Author)), m.GuestName, m.Text, int64(m.CreatedAt), null(m.EditedAt)})
		r.text(c.ID, query.InComment, m.ID, m.Text)
	}
	r.Cards = append(r.Cards, []any{c.ID, c.BoardID, c.ListID, c.Rank, c.Number, c.Title, null(c.DoneAt),
		null(c.OwnArchivedAt()), c.DueDate, null(c.DueAt), c.StartDate, null(c.StartAt), c.TimeZone,
		c.ChecklistItems.Done, c.ChecklistItems.Total, c.Comments, c.Attachments, coverID, coverWidth, coverHeight,
		c.CreatedBy, int64(c.CreatedAt), int64(c.UpdatedAt), *c.Description})
	return nil
}

func (r *rows) checklist(c *WholeCard, k *board.Checklist) error {
	k.CardID = c.ID
	r.Checklists = append(r.Checklists, []any{k.ID, c.ID, k.Title, int64(k.CreatedAt), int64(k.UpdatedAt)})
	r.text(c.ID, query.InChecklist, k.ID, k.Title)
	ranks, err := board.RanksAfter("", len(k.Items))
	if err != nil {
		return err
	}
	for n := range k.Items {
		i := &k.Items[n]
		i.ChecklistID, i.Rank = k.ID, ranks[n]
		r.Items = append(r.Items, []any{i.ID, k.ID, i.Title, i.Rank, null(i.DoneAt), int64(i.CreatedAt), int64(i.UpdatedAt)})
		r.text(c.ID, query.InChecklist, i.ID, i.Title)
		c.ChecklistItems.Total++
		if i.Done = i.DoneAt != nil; i.Done {
			c.ChecklistItems.Done++
		}
	}
	return nil
}

func (r *rows) statusUpdate(s *board.StatusUpdate) error {
	figures, err := json.Marshal(s.Snapshot)
	if err != nil {
		return fmt.Errorf("encode figures: %w", err)
	}
	r.StatusUpdates = append(r.StatusUpdates, []any{s.ID, s.BoardID, string(s.Status), s.Title, s.Text, s.StartDate, s.TargetDate,
		null(authorID(s.Author)), int64(s.CreatedAt), string(figures)})
	return nil
}

func (r *rows) text(cardID string, place query.Place, ref, text string) {
	if words := search.IndexedText(text); words != "" {
		r.Texts = append(r.Texts, []any{cardID, string(place), ref, words})
	}
}

// writeRows writes rows to their tables.
func (tx *Tx) writeRows(ctx context.Context, r *rows) error {
	for _, u := range r.Users { // another import may have written the same placeholder
		if err := tx.exec(ctx, "INSERT INTO users (id, name, time_zone, created_at) VALUES ($1, $2, 'UTC', $3) ON CONFLICT DO NOTHING",
			u...); err != nil {
			return fmt.Errorf("write users: %w", err)
		}
	}
	for _, t := range r.tables() {
		if err := tx.insert(ctx, t.into, *t.rows); err != nil {
			return fmt.Errorf("write rows: %w", err)
		}
	}
	for _, b := range r.Backgrounds {
		version, err := tx.AddBackground(ctx, b.BoardID, board.Picture{MediaType: b.MediaType, Content: b.Content})
		if err == nil {
			err = tx.exec(ctx, "UPDATE boards SET background = $1 WHERE id = $2", version, b.BoardID)
		}
		if err != nil {
			return fmt.Errorf("write backgrounds: %w", err)
		}
	}
	for _, m := range r.Moves {
		if err := tx.exec(ctx, "UPDATE cards SET moved_at = $1 WHERE id = $2 AND (moved_at IS NULL OR moved_at > $1)", m...); err != nil {
			return fmt.Errorf("write moves: %w", err)
		}
	}
	for _, e := range r.Ends {
		if err := tx.exec(ctx, `UPDATE boards AS b SET version = $1, open_cards = $2, all_cards = $3, open_lists = $4, next_number = $5,
			text_bytes = text_bytes + $6, activity_bytes = activity_bytes + $7, done_cards = `+CountDoneCards+`
			WHERE b.id = $8`, e...); err != nil {
			return fmt.Errorf("write counts: %w", err)
		}
	}
	return nil
}

// decodeRows decodes rows from JSON.
func decodeRows(text []byte) (*rows, error) {
	var r rows
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("decode rows: %w", err)
	}
	for i, entry := range r.Activity { // servers before v0.3 do not write the program
		if len(entry) == 12 {
			r.Activity[i] = append(entry, nil)
		}
	}
	all := [][][]any{r.Users, r.Moves, r.Ends}
	for _, t := range r.tables() {
		all = append(all, *t.rows)
	}
	for _, table := range all {
		for _, row := range table {
			for i, v := range row {
				// JSON numbers decode as float64, but all numeric columns are integers.
				if f, ok := v.(float64); ok {
					if f != math.Trunc(f) {
						return nil, fmt.Errorf("decode rows: %v is not an integer", f)
					}
					row[i] = int64(f)
				}
			}
		}
	}
	return &r, nil
}
