package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/base32"
	"fmt"

	"github.com/go-json-experiment/json"

	"cardwall/internal/board"
	"cardwall/internal/query"
	"cardwall/internal/sqldb"
)

// Reads and writes of exports and imports. An export reads whole boards. An import
// writes records with the times, numbers, states and versions that they had in the
// exported installation. No other code may set these.

// ExportCards returns a page of the cards of a list, including archived ones, in
// their order after a rank. The list's board must be loaded.
func (v *View) ExportCards(ctx context.Context, listID, after string, limit int) ([]board.Card, error) {
	var cards []board.Card
	err := v.each(ctx, "SELECT "+cardColumns+", c.description FROM cards c JOIN lists l ON l.id = c.list_id WHERE c.list_id = $1 "+
		"AND c.rank > $2 ORDER BY c.rank, c.id LIMIT $3",
		[]any{listID, after, limit}, func(rows *sql.Rows) error {
			var c board.Card
			err := rows.Scan(cardDest(&c)...)
			cards = append(cards, c)
			return err
		})
	if err != nil {
		return nil, err
	}
	return cards, v.hydrate(ctx, cards)
}

// CardsWith reports which of the cards have checklists, and which have comments.
func (v *View) CardsWith(ctx context.Context, ids []string) (checklists, comments map[string]bool, err error) {
	checklists, comments = map[string]bool{}, map[string]bool{}
	err = sqldb.InChunks(ids, func(in string, args []any) error {
		text := "SELECT DISTINCT 1, card_id FROM checklists WHERE card_id IN (" + in + ") UNION ALL SELECT DISTINCT 2, card_id " +
			"FROM comments WHERE card_id IN (" + in + ")"
		return v.each(ctx, text, args, func(rows *sql.Rows) error {
			var (
				which int
				id    string
			)
			err := rows.Scan(&which, &id)
			if which == 1 {
				checklists[id] = true
			} else {
				comments[id] = true
			}
			return err
		})
	})
	return checklists, comments, err
}

// UsersOn returns the ids of the people in the records of a board: authors of the
// board, of cards, comments and status updates, assignees, and actors of changes.
// People who are only mentioned in the text of a change are left out.
func (v *View) UsersOn(ctx context.Context, boardID string) ([]string, error) {
	var ids []string
	err := v.each(ctx, `SELECT created_by FROM boards WHERE id = $1 AND created_by IS NOT NULL
		UNION SELECT created_by FROM cards WHERE board_id = $1 AND created_by IS NOT NULL
		UNION SELECT k.user_id FROM card_assignees k JOIN cards c ON c.id = k.card_id WHERE c.board_id = $1
		UNION SELECT m.author_id FROM comments m JOIN cards c ON c.id = m.card_id WHERE c.board_id = $1 AND m.author_id IS NOT NULL
		UNION SELECT author_id FROM status_updates WHERE board_id = $1 AND author_id IS NOT NULL
		UNION SELECT actor_id FROM activity WHERE board_id = $1 AND actor_type = 'person' AND actor_id IS NOT NULL`,
		[]any{boardID}, func(rows *sql.Rows) error {
			var id string
			err := rows.Scan(&id)
			ids = append(ids, id)
			return err
		})
	return ids, err
}

// ExportStatusUpdates returns a page of the status updates of a board that a loader
// has loaded, oldest first, after the cursor. Their authors have only ids.
func (v *View) ExportStatusUpdates(ctx context.Context, boardID string, mark StatusUpdateCursor,
	limit int) ([]board.StatusUpdate, error) {
	var out []board.StatusUpdate
	err := v.each(ctx, `SELECT id, board_id, status, title, text, start_date, target_date, author_id, created_at, figures FROM status_updates
		WHERE board_id = $1 AND (created_at, id) > ($2, $3) ORDER BY created_at, id LIMIT $4`,
		[]any{boardID, int64(mark.At), mark.ID, limit}, func(rows *sql.Rows) error {
			var (
				s       board.StatusUpdate
				author  sql.NullString
				figures []byte
			)
			if err := rows.Scan(&s.ID, &s.BoardID, &s.Status, &s.Title, &s.Text, &s.StartDate, &s.TargetDate, &author, &s.CreatedAt,
				&figures); err != nil {
				return err
			}
			if author.Valid {
				s.Author = &board.UserRef{ID: author.String}
			}
			out = append(out, s)
			return json.Unmarshal(figures, &out[len(out)-1].Snapshot)
		})
	return out, err
}

// SharedFilters returns a page of the filters of a workspace that their owners share
// with the caller, in the order of their ids after the given one. The workspace, or a
// board of it, must be loaded.
func (v *View) SharedFilters(ctx context.Context, workspaceID, after string, limit int) ([]board.SavedFilter, error) {
	var a sqldb.Args
	text := `SELECT f.id, f.workspace_id, f.name, f.query, f.created_at, f.updated_at, u.id, u.name FROM saved_filters f
		JOIN users u ON u.id = f.owner_id
		WHERE f.shared = 1 AND f.workspace_id = ` + a.Add(workspaceID) + " AND f.id > " + a.Add(after)
	if !v.caller.System {
		text += " AND EXISTS (SELECT 1 FROM workspace_members m WHERE m.workspace_id = f.workspace_id AND m.role <> 'guest' " +
			"AND m.user_id = " + a.Add(v.caller.UserID) + ")"
	}
	var out []board.SavedFilter
	err := v.each(ctx, text+" ORDER BY f.id LIMIT "+a.Add(limit), a, func(rows *sql.Rows) error {
		f := board.SavedFilter{Shared: true}
		err := rows.Scan(&f.ID, &f.WorkspaceID, &f.Name, &f.Query, &f.CreatedAt, &f.UpdatedAt, &f.Owner.ID, &f.Owner.Name)
		out = append(out, f)
		return err
	})
	return out, err
}

// Home is the workspace and the board of a list or a label. A board is its own home.
type Home struct{ WorkspaceID, BoardID string }

// Homes returns the homes of those ids that are boards, lists or labels. It does not
// authorize: the caller must not reveal the result.
func (v *View) Homes(ctx context.Context, ids []string) (map[string]Home, error) {
	homes := map[string]Home{}
	err := sqldb.InChunks(ids, func(in string, args []any) error {
		return v.each(ctx, "SELECT id, workspace_id, id FROM boards WHERE id IN ("+in+`)
			UNION ALL SELECT x.id, b.workspace_id, b.id FROM lists x JOIN boards b ON b.id = x.board_id WHERE x.id IN (`+in+`)
			UNION ALL SELECT x.id, b.workspace_id, b.id FROM labels x JOIN boards b ON b.id = x.board_id WHERE x.id IN (`+in+")", args,
			func(rows *sql.Rows) error {
				var (
					id string
					h  Home
				)
				err := rows.Scan(&id, &h.WorkspaceID, &h.BoardID)
				homes[id] = h
				return err
			})
	})
	return homes, err
}

// ChangesNaming calls fn with the JSON of each change of a board that contains a text.
func (v *View) ChangesNaming(ctx context.Context, boardID, text string, fn func(changes []byte) error) error {
	return v.each(ctx, "SELECT changes FROM activity WHERE board_id = $1 AND changes LIKE $2 ORDER BY version",
		[]any{boardID, "%" + text + "%"}, func(rows *sql.Rows) error {
			var changes []byte
			if err := rows.Scan(&changes); err != nil {
				return err
			}
			return fn(changes)
		})
}

// UserNames returns the users with the given ids, including those who have left.
func (v *View) UserNames(ctx context.Context, ids []string) ([]board.UserRef, error) {
	out := []board.UserRef{}
	err := sqldb.InChunks(ids, func(in string, args []any) error {
		return v.each(ctx, "SELECT id, name FROM users WHERE id IN ("+in+")", args, func(rows *sql.Rows) error {
			var u board.UserRef
			err := rows.Scan(&u.ID, &u.Name)
			out = append(out, u)
			return err
		})
	})
	return out, err
}

// WorkspaceBoards returns a page of the ids of the boards of a workspace that an
// export may contain, after the given one. It leaves out boards that are confidential
// or in the trash. It does not authorize: the caller must load each board.
func (v *View) WorkspaceBoards(ctx context.Context, workspaceID, after string, limit int) ([]string, error) {
	var ids []string
	err := v.each(ctx, "SELECT id FROM boards WHERE workspace_id = $1 AND id > $2 AND trashed_at IS NULL AND visibility <> $3 "+
		"ORDER BY id LIMIT $4",
		[]any{workspaceID, after, string(board.Confidential), limit}, func(rows *sql.Rows) error {
			var id string
			err := rows.Scan(&id)
			ids = append(ids, id)
			return err
		})
	return ids, err
}

// ImportBoard writes an imported board to a workspace that a loader has loaded.
// ImportBoardEnd writes its counts. The caller becomes its admin. If the caller is
// not a person and the board is not visible to the workspace, the owners of the
// workspace become its admins.
func (tx *Tx) ImportBoard(ctx context.Context, b *board.Board, in board.Workspace) error {
	tx.remember(&board.Access{
		BoardID: b.ID, WorkspaceID: in.ID, OrganizationID: in.OrganizationID, Visibility: b.Visibility, Features: b.Features,
		WorkspaceRole: in.Role,
		BoardRole:     board.RoleAdmin, ReadOnly: in.ReadOnly, Archived: b.ArchivedAt != nil, Version: b.Version, NextNumber: 1,
	})
	tx.storedRecord(b.ID, b.ID, b.Name, b.Description)
	if err := tx.exec(ctx, `INSERT INTO boards (id, workspace_id, name, description, color, visibility, features, version,
		archived_at, created_by, created_at, updated_at, counted_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
		b.ID, in.ID, b.Name, b.Description, null(b.Color), string(b.Visibility), b.Features.Bits(), b.Version, null(b.ArchivedAt), b.CreatedBy,
		int64(b.CreatedAt), int64(b.UpdatedAt), int64(tx.now)); err != nil {
		return fmt.Errorf("import board: %w", err)
	}
	switch {
	case tx.caller.UserID != "":
		return tx.SetBoardMember(ctx, b.ID, tx.caller.UserID, board.RoleAdmin)
	case b.Visibility == board.VisibleToWorkspace:
		return nil
	}
	return tx.exec(ctx, `INSERT INTO board_members (board_id, user_id, role, created_at)
		SELECT $1, user_id, 'admin', $2 FROM workspace_members WHERE workspace_id = $3 AND role = 'owner'`, b.ID, int64(tx.now), in.ID)
}

// ImportBoardEnd writes the counts since ImportBoard. Later cards get numbers from
// nextNumber on.
func (tx *Tx) ImportBoardEnd(ctx context.Context, boardID string, nextNumber int) error {
	a := tx.On(boardID)
	a.NextNumber = max(a.NextNumber, nextNumber)
	return tx.exec(ctx, "UPDATE boards SET open_cards = $1, all_cards = $2, open_lists = $3, next_number = $4 WHERE id = $5",
		a.OpenCards, a.AllCards, a.OpenLists, a.NextNumber, boardID)
}

// ImportList writes an imported list with its rank.
func (tx *Tx) ImportList(ctx context.Context, l *board.List) error {
	if l.ArchivedAt == nil {
		tx.On(l.BoardID).OpenLists++
	}
	tx.storedRecord(l.ID, l.BoardID, l.Name)
	if err := tx.exec(ctx, `INSERT INTO lists (id, board_id, name, rank, wip_limit, wip_mode, archived_at, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
		l.ID, l.BoardID, l.Name, l.Rank, l.WIPLimit, string(l.WIPMode), null(l.ArchivedAt), int64(l.CreatedAt),
		int64(l.UpdatedAt)); err != nil {
		return fmt.Errorf("import list: %w", err)
	}
	return nil
}

// ImportLabel writes an imported label.
func (tx *Tx) ImportLabel(ctx context.Context, l *board.Label) error {
	tx.storedRecord(l.ID, l.BoardID, l.Name)
	if err := tx.exec(ctx, "INSERT INTO labels (id, board_id, name, color, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6)",
		l.ID, l.BoardID, l.Name, string(l.Color), int64(l.CreatedAt), int64(l.UpdatedAt)); err != nil {
		return fmt.Errorf("import label: %w", err)
	}
	return nil
}

// ImportCard writes an imported card with its rank, its number, its labels, its
// counts and its assignees in their order. ArchivedAt is when the card itself was
// archived, ListArchivedAt when its list was.
func (tx *Tx) ImportCard(ctx context.Context, c *board.Card) error {
	a := tx.On(c.BoardID)
	tx.storedRecord(c.ID, c.BoardID, c.Title, *c.Description)
	a.NextNumber = max(a.NextNumber, c.Number+1)
	a.AllCards++
	if c.ArchivedAt == nil && c.ListArchivedAt == nil {
		a.OpenCards++
	}
	if err := tx.exec(ctx, `INSERT INTO cards (id, board_id, list_id, rank, number, title, done_at, archived_at, due_date, due_at,
		start_date, start_at,
		time_zone, items_done, items_total, comments, created_by, created_at, updated_at, description)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20)`,
		c.ID, c.BoardID, c.ListID, c.Rank, c.Number, c.Title, null(c.DoneAt), null(c.ArchivedAt), c.DueDate, null(c.DueAt),
		c.StartDate, null(c.StartAt),
		c.TimeZone, c.ChecklistItems.Done, c.ChecklistItems.Total, c.Comments, c.CreatedBy, int64(c.CreatedAt), int64(c.UpdatedAt),
		*c.Description); err != nil {
		return fmt.Errorf("import card: %w", err)
	}
	if err := tx.addCardTexts(ctx, c); err != nil {
		return err
	}
	for _, l := range c.Labels {
		if err := tx.AddCardLabel(ctx, c.ID, l.ID); err != nil {
			return err
		}
	}
	for i, u := range c.Assignees { // their order is that of being assigned
		if err := tx.exec(ctx, "INSERT INTO card_assignees (card_id, user_id, assigned_at) VALUES ($1, $2, $3)", c.ID, u.ID,
			int64(c.CreatedAt)+int64(i)); err != nil {
			return fmt.Errorf("import assignee: %w", err)
		}
	}
	return nil
}

// ImportChecklist writes an imported checklist with its items.
func (tx *Tx) ImportChecklist(ctx context.Context, k *board.Checklist) error {
	tx.storedRecord(k.ID, tx.boardOf(k.CardID), k.Title)
	if err := tx.exec(ctx, "INSERT INTO checklists (id, card_id, title, created_at, updated_at) VALUES ($1, $2, $3, $4, $5)",
		k.ID, k.CardID, k.Title, int64(k.CreatedAt), int64(k.UpdatedAt)); err != nil {
		return fmt.Errorf("import checklist: %w", err)
	}
	ranks, err := board.RanksAfter("", len(k.Items))
	if err != nil {
		return err
	}
	for n := range k.Items {
		i := &k.Items[n]
		i.ChecklistID, i.Rank = k.ID, ranks[n]
		if err := tx.insertItem(ctx, i); err != nil {
			return fmt.Errorf("import item: %w", err)
		}
	}
	return tx.addText(ctx, k.CardID, query.InChecklist, k.ID, k.Title)
}

// ImportComment writes an imported comment.
func (tx *Tx) ImportComment(ctx context.Context, m *board.Comment) error {
	tx.storedRecord(m.ID, tx.boardOf(m.CardID), m.Text)
	if err := tx.exec(ctx, "INSERT INTO comments (id, card_id, author_id, guest_name, text, created_at, edited_at) "+
		"VALUES ($1, $2, $3, $4, $5, $6, $7)",
		m.ID, m.CardID, null(authorID(m.Author)), m.GuestName, m.Text, int64(m.CreatedAt), null(m.EditedAt)); err != nil {
		return fmt.Errorf("import comment: %w", err)
	}
	return tx.addText(ctx, m.CardID, query.InComment, m.ID, m.Text)
}

// ImportStatusUpdate writes a status update without changing its time.
func (tx *Tx) ImportStatusUpdate(ctx context.Context, s *board.StatusUpdate) error {
	figures, err := json.Marshal(s.Snapshot)
	if err != nil {
		return fmt.Errorf("encode figures: %w", err)
	}
	tx.storedRecord(s.ID, s.BoardID, s.Title, s.Text)
	if err := tx.exec(ctx, `INSERT INTO status_updates (id, board_id, status, title, text, start_date, target_date, author_id,
		created_at, figures)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
		s.ID, s.BoardID, string(s.Status), s.Title, s.Text, s.StartDate, s.TargetDate, null(authorID(s.Author)),
		int64(s.CreatedAt), string(figures)); err != nil {
		return fmt.Errorf("insert status update: %w", err)
	}
	return nil
}

// CountFiltersOf returns the number of a person's filters in a workspace.
func (v *View) CountFiltersOf(ctx context.Context, workspaceID, ownerID string) (int, error) {
	return v.count(ctx, "SELECT count(*) FROM saved_filters WHERE owner_id = $1 AND workspace_id = $2", ownerID, workspaceID)
}

// ImportSavedFilter writes an imported filter of any person.
func (tx *Tx) ImportSavedFilter(ctx context.Context, f *board.SavedFilter) error {
	if err := tx.exec(ctx, "INSERT INTO saved_filters (id, workspace_id, owner_id, name, query, shared, created_at, updated_at) "+
		"VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
		f.ID, f.WorkspaceID, f.Owner.ID, f.Name, f.Query, flag(f.Shared), int64(f.CreatedAt), int64(f.UpdatedAt)); err != nil {
		return fmt.Errorf("import saved filter: %w", err)
	}
	return nil
}

// ImportEntry writes an imported entry of a board's activity. The card that it is
// about must exist.
func (tx *Tx) ImportEntry(ctx context.Context, e *board.Entry) error {
	changes, err := json.Marshal(e.Changes, json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("encode changes: %w", err)
	}
	tx.grow(e.BoardID, 0, sizeOf(string(changes)))
	if err := tx.exec(ctx, `INSERT INTO activity (board_id, version, id, type, at, actor_type, actor_id, list_id, card_id, changes)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
		e.BoardID, e.BoardVersion, e.ID, string(e.Type), int64(e.At), string(e.Actor.Type), e.Actor.ID, e.ListID, e.CardID,
		string(changes)); err != nil {
		return fmt.Errorf("import activity: %w", err)
	}
	if e.Type != board.KindCardMoved || e.CardID == nil {
		return nil
	}
	if err := tx.exec(ctx, "UPDATE cards SET moved_at = $1 WHERE id = $2 AND (moved_at IS NULL OR moved_at > $1)", int64(e.At),
		*e.CardID); err != nil {
		return fmt.Errorf("import move: %w", err)
	}
	return nil
}

// WorkspacePerson reports whether a person is a member of a workspace.
func (v *View) WorkspacePerson(ctx context.Context, workspaceID, userID string) (bool, error) {
	n, err := v.count(ctx, `SELECT count(*) FROM users u JOIN workspace_members wm ON wm.user_id = u.id
		WHERE wm.workspace_id = $1 AND u.id = $2 AND u.deleted_at IS NULL`, workspaceID, userID)
	return n > 0, err
}

// Placeholder returns an account without email address and password that represents a
// person from another installation, so that the name is kept. Nobody can sign in with
// it, and it is not a member of anything. The same person from the same installation
// gets the same placeholder in a workspace every time. The placeholder of a
// placeholder is the account itself.
func (tx *Tx) Placeholder(ctx context.Context, workspaceID, sourceID, name string) (string, error) {
	sum := sha256.Sum256([]byte(workspaceID + "\x00" + sourceID + "\x00" + name))
	derived := "usr_" + base32.NewEncoding(crockford).WithPadding(base32.NoPadding).EncodeToString(sum[:16])
	for _, id := range []string{sourceID, derived} {
		n, err := tx.count(ctx, `SELECT count(*) FROM users u WHERE u.id = $1 AND u.name = $2 AND u.email IS NULL AND u.password_hash IS NULL
			AND u.deleted_at IS NULL AND NOT EXISTS (SELECT 1 FROM workspace_members m WHERE m.user_id = u.id)
			AND NOT EXISTS (SELECT 1 FROM tokens t WHERE t.user_id = u.id)`, id, name)
		if err != nil || n > 0 {
			return id, err
		}
	}
	for _, id := range []string{derived, tx.NewID("usr_")} { // the second one if the first has become a real account
		n, err := tx.affected(ctx, "INSERT INTO users (id, name, time_zone, created_at) VALUES ($1, $2, 'UTC', $3) "+
			"ON CONFLICT DO NOTHING", id, name, int64(tx.now))
		if err != nil || n > 0 {
			return id, err
		}
	}
	return "", fmt.Errorf("no id for a placeholder of %s", sourceID)
}
