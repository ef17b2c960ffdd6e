package store

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"cardwall/internal/board"
	"cardwall/internal/query"
	"cardwall/internal/sqldb"
	"cardwall/internal/store/search"
)

// Full-text search. The table texts contains the words of all text on cards, as
// query.Words returns them. This table decides whether a card matches, in the same way on
// both databases. The full-text index (FTS5 on SQLite, GIN on PostgreSQL) only finds
// candidates. It is used only if reading the candidates costs less than scanning the
// cards, newest first.

// indexText stores the words of the text in one place of a card. It keeps the row if the
// words are the same, and stores no row for text without words.
func (tx *Tx) indexText(ctx context.Context, cardID string, place query.Place, ref, text string) error {
	words := search.IndexedText(text)
	if words == "" {
		return tx.dropText(ctx, cardID, place, ref)
	}
	if err := tx.exec(ctx, "DELETE FROM texts WHERE card_id = $1 AND place = $2 AND ref = $3 AND words <> $4", cardID,
		string(place), ref, words); err != nil {
		return err
	}
	tx.db.unmerged.Store(true)
	return tx.exec(ctx, "INSERT INTO texts (card_id, place, ref, words) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING", cardID,
		string(place), ref, words)
}

// addText stores the words of new text on a card.
func (tx *Tx) addText(ctx context.Context, cardID string, place query.Place, ref, text string) error {
	words := search.IndexedText(text)
	if words == "" {
		return nil
	}
	tx.db.unmerged.Store(true)
	return tx.exec(ctx, "INSERT INTO texts (card_id, place, ref, words) VALUES ($1, $2, $3, $4)", cardID, string(place), ref, words)
}

// dropText deletes the words of the text in one place of a card.
func (tx *Tx) dropText(ctx context.Context, cardID string, place query.Place, ref string) error {
	return tx.exec(ctx, "DELETE FROM texts WHERE card_id = $1 AND place = $2 AND ref = $3", cardID, string(place), ref)
}

// addCardTexts stores the words of the title and the description of a new card.
func (tx *Tx) addCardTexts(ctx context.Context, c *board.Card) error {
	if err := tx.addText(ctx, c.ID, query.InTitle, "", c.Title); err != nil {
		return fmt.Errorf("index title: %w", err)
	}
	if err := tx.addText(ctx, c.ID, query.InDescription, "", *c.Description); err != nil {
		return fmt.Errorf("index description: %w", err)
	}
	return nil
}

// MergeSearchIndex merges the new entries of PostgreSQL's search index into its tree, if
// this server has added entries since the last call. Until then, each search also reads
// the list of new entries. If nobody calls MergeSearchIndex, the write that exceeds the
// maximum size of the list (4 MB) merges it. SQLite has no such list.
func (db *DB) MergeSearchIndex(ctx context.Context) error {
	if !db.dialect().RowLocks || !db.unmerged.Swap(false) {
		return nil
	}
	err := db.Write(ctx, board.System(), func(tx *Tx) error {
		_, err := tx.count(ctx, "SELECT gin_clean_pending_list('texts_by_terms')")
		return err
	})
	if err != nil {
		db.unmerged.Store(true)
	}
	return err
}

// indexCard stores the words of all text on a card whose board is locked.
func (tx *Tx) indexCard(ctx context.Context, id string) error {
	type text struct{ card, place, ref, text string }
	var all []text
	// The query takes a range of cards; here both ends are this card.
	if err := tx.each(ctx, strings.ReplaceAll(search.CardTexts, "> $1", ">= $1"), []any{id, id}, func(rows *sql.Rows) error {
		var t text
		err := rows.Scan(&t.card, &t.place, &t.ref, &t.text)
		all = append(all, t)
		return err
	}); err != nil {
		return err
	}
	for _, t := range all {
		if err := tx.indexText(ctx, t.card, query.Place(t.place), t.ref, t.text); err != nil {
			return fmt.Errorf("index %s: %w", t.place, err)
		}
	}
	return nil
}

// texts returns the rows of a query with one text column.
func (v *View) texts(ctx context.Context, text string, args ...any) ([]string, error) {
	defer v.statement(text).End()
	return sqldb.Strings(ctx, v.run, text, args...)
}

// resolve replaces the names in a query with the ids of the records that have these
// names and that the page can contain. Names are folded in Go, because neither
// database folds as query.FoldName does.
func (v *View) resolve(ctx context.Context, p CardPage, n query.Node) (query.Node, error) {
	each := func(nodes []query.Node) ([]query.Node, error) {
		out := make([]query.Node, len(nodes))
		for i, m := range nodes {
			var err error
			if out[i], err = v.resolve(ctx, p, m); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	switch n := n.(type) {
	case query.And:
		nodes, err := each(n)
		return query.And(nodes), err
	case query.Or:
		nodes, err := each(n)
		return query.Or(nodes), err
	case query.Not:
		m, err := v.resolve(ctx, p, n.Node)
		return query.Not{Node: m}, err
	case query.In:
		if len(n.Names) == 0 {
			return n, nil
		}
		ids, err := v.named(ctx, p, n)
		return query.In{Ref: n.Ref, IDs: append(append([]string(nil), n.IDs...), ids...), Emails: n.Emails}, err
	}
	return n, nil
}

// mostNamed is the maximum number of records that the names of one term may match. It
// keeps statements well below the parameter limits of both databases.
const mostNamed = 4096

// named returns the ids of the records that have one of the names.
func (v *View) named(ctx context.Context, p CardPage, n query.In) ([]string, error) {
	wanted := make(map[string]bool, len(n.Names))
	for _, name := range n.Names {
		wanted[name] = true
	}
	var ids []string
	err := v.eachName(ctx, p, n.Ref, func(id, name string) {
		if wanted[query.FoldName(name)] {
			ids = append(ids, id)
		}
	})
	if err == nil && len(ids) > mostNamed {
		err = board.Invalid("%s matches more than %d records by name. Use ids, or search one board.", string(n.Ref), mostNamed)
	}
	return ids, err
}

// Names returns a function that returns the names of the records of a kind that a query on the
// page can refer to, also if they are archived.
func (v *View) Names(ctx context.Context, p CardPage) func(query.Ref) ([]string, error) {
	p.IncludeArchived = true
	loaded := map[query.Ref][]string{}
	return func(ref query.Ref) ([]string, error) {
		if names, ok := loaded[ref]; ok {
			return names, nil
		}
		err := v.eachName(ctx, p, ref, func(_, name string) {
			if name != "" {
				loaded[ref] = append(loaded[ref], name)
			}
		})
		return loaded[ref], err
	}
}

// eachName calls fn with the id and the name of each record of a kind that a query on the page can
// refer to.
func (v *View) eachName(ctx context.Context, p CardPage, ref query.Ref, fn func(id, name string)) error {
	var (
		a    sqldb.Args
		text string
	)
	boards := func(column string) string {
		if p.BoardID != "" {
			return column + " = " + a.Add(p.BoardID)
		}
		return column + " IN (" + v.boardsOf(p, &a) + ")"
	}
	switch ref {
	case query.RefList:
		text = "SELECT l.id, l.name FROM lists l WHERE " + boards("l.board_id") + " AND " + search.ShownList
	case query.RefLabel:
		text = "SELECT l.id, l.name FROM labels l WHERE " + boards("l.board_id")
	case query.RefBoard:
		text = "SELECT l.id, l.name FROM boards l WHERE " + boards("l.id")
	case query.RefMember, query.RefCreator, query.RefCommenter:
		workspaces := ""
		if p.BoardID != "" {
			workspaces = "SELECT b.workspace_id FROM boards b WHERE b.id = " + a.Add(p.BoardID)
		} else {
			workspaces = "SELECT me.workspace_id FROM workspace_members me WHERE me.user_id = " + a.Add(v.caller.UserID)
		}
		text = "SELECT u.id, u.name FROM users u WHERE u.deleted_at IS NULL AND u.id IN (SELECT m.user_id FROM workspace_members m " +
			"WHERE m.workspace_id IN (" + workspaces + "))"
	}
	return v.each(ctx, text, a, func(rows *sql.Rows) error {
		var id, name string
		if err := rows.Scan(&id, &name); err != nil {
			return err
		}
		fn(id, name)
		return nil
	})
}

// boardsOf returns a query for the ids of the boards that a page covers if it names no
// board.
func (v *View) boardsOf(p CardPage, a *sqldb.Args) string {
	text := `SELECT b.id FROM workspace_members wm JOIN boards b ON b.workspace_id = wm.workspace_id
		LEFT JOIN board_members bm ON bm.board_id = b.id AND bm.user_id = wm.user_id
		WHERE wm.user_id = ` + a.Add(v.caller.UserID) + " AND b.trashed_at IS NULL AND " + visible
	if !p.IncludeArchived {
		text += " AND b.archived_at IS NULL"
	}
	for _, w := range []string{p.WorkspaceID, v.caller.WorkspaceID} {
		if w != "" {
			text += " AND b.workspace_id = " + a.Add(w)
		}
	}
	return text
}

const (
	// fewCards is the maximum number of candidates of a lead. Reading more of them would
	// cost more than scanning the newest cards until a page is full.
	fewCards = 2000
	// fewSpans is like fewCards, but for a range of due times. The candidates of a range
	// are adjacent in the index.
	fewSpans = 5000
	// enough is the number of candidates below which a better lead saves nothing.
	enough = 50
)

// chooseLead sets the lead of a plan. This is the term of its query with the fewest
// candidates, if there are at most maxCards, or at most maxSpans for a range of due
// times. The cards are then read from the index of that term. For a range, this is the
// index cards_span, and bySpan is set instead of lead.
func (v *View) chooseLead(ctx context.Context, p *plan, maxCards, maxSpans int) error {
	p.lead = -1
	tried := 0
	for i, n := range p.where {
		var a sqldb.Args
		most := maxCards
		text, ok := search.Compiler{Args: &a, Caller: v.caller, Workspaces: p.indexed}.Candidates(p.dialect, n, true)
		span := !ok
		if span {
			most = maxSpans
			text, ok = v.spans(p.CardPage, n, &a)
		}
		if !ok {
			continue
		}
		if tried++; tried > search.MaxProbes {
			break
		}
		// The limit is part of the text, because PostgreSQL's plan depends on it.
		count, err := v.count(ctx, fmt.Sprintf("SELECT count(*) FROM (%s LIMIT %d) AS n", text, most+1), a...)
		if err != nil {
			return fmt.Errorf("count candidates: %w", err)
		}
		if count > most || (p.lead >= 0 || p.bySpan) && count >= p.found {
			continue
		}
		p.lead, p.bySpan, p.found = i, span, count
		if span {
			p.lead = -1
		}
		if count < enough {
			break
		}
	}
	return nil
}

// spans returns a query with one row for each card that may be due in a range, on the
// many boards that a page covers. The query uses the index cards_span. Ok is false for a
// term or a page that the index does not cover.
func (v *View) spans(p CardPage, n query.Node, a *sqldb.Args) (text string, ok bool) {
	due, ok := n.(query.Range)
	if !ok || due.Field != query.FieldDue || p.BoardID != "" || p.Assigned || p.Query.Archived != query.ArchivedNo {
		return "", false
	}
	return "SELECT 1 FROM cards c WHERE c.board_id " + v.db.dialect().Among(v.boardsOf(p, a)) + " AND c.archived_at IS NULL" +
		search.Compiler{Args: a}.Near(due), true
}
