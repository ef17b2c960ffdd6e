package dbtool

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"

	"cardwall/internal/store"
	"cardwall/internal/store/search"
)

// searchChecks returns the checks that compare the search index with the content of
// cards.
func searchChecks(db *store.DB) []check {
	out := []check{{
		problem: "card %s: its search index entries are out of date",
		find:    staleEntries,
		repair: func(ctx context.Context, tx *store.RawTx, id string) error {
			return tx.ReindexCard(ctx, id)
		},
	}}
	if db.Engine().Dialect().RowLocks {
		out = append(out, check{
			problem: "card %s: its search index entries belong to another workspace",
			query: `SELECT DISTINCT c.id FROM texts t JOIN cards c ON c.id = t.card_id JOIN boards b ON b.id = c.board_id
				WHERE t.workspace_id IS DISTINCT FROM b.workspace_id AND NOT EXISTS (SELECT 1 FROM settings s WHERE s.key = 'texts_workspace')`,
			repair: func(ctx context.Context, tx *store.RawTx, id string) error {
				if err := tx.LockBoardOfCard(ctx, id); err != nil {
					return err
				}
				return tx.Exec(ctx, "UPDATE texts SET workspace_id = (SELECT b.workspace_id FROM cards c JOIN boards b ON b.id = c.board_id "+
					"WHERE c.id = $1) WHERE card_id = $1", id)
			},
		})
	} else {
		out = append(out, check{
			problem: "search: %s entries are missing from the full-text index",
			query: `SELECT CAST(n AS TEXT) FROM (SELECT count(*) AS n FROM texts t WHERE t.id <= (SELECT upto FROM texts_indexed)
				AND NOT EXISTS (SELECT 1 FROM texts_words_docsize d WHERE d.id = t.id)) WHERE n > 0`,
			repair: rebuildSearchIndex,
		}, check{
			problem: "search: %s entries are in the full-text index under another workspace",
			find:    misplacedEntries,
			repair:  rebuildSearchIndex,
		})
	}
	return out
}

// misplacedEntries reports the number of entries in SQLite's full-text index that are not
// under the prefix of their workspace.
func misplacedEntries(ctx context.Context, v *store.RawView, report func(string) bool) error {
	ids, err := v.Strings(ctx, "SELECT id FROM workspaces ORDER BY id")
	if err != nil {
		return err
	}
	misplaced := 0
	for _, id := range ids {
		key, ok := search.WorkspaceKey(id)
		if !ok {
			continue
		}
		n, err := v.Count(ctx, `SELECT count(*) FROM boards b JOIN cards c ON c.board_id = b.id JOIN texts t ON t.card_id = c.id
			JOIN texts_words_docsize d ON d.id = t.id WHERE b.workspace_id = $1 AND t.id NOT IN (SELECT rowid FROM texts_words
			WHERE texts_words MATCH $2)`, id, `"`+key+`"*`)
		if err != nil {
			return err
		}
		misplaced += n
	}
	if misplaced > 0 {
		report(strconv.Itoa(misplaced))
	}
	return nil
}

// rebuildSearchIndex recreates SQLite's full-text index, even a damaged one.
func rebuildSearchIndex(ctx context.Context, tx *store.RawTx, _ string) error {
	var definition string
	if found, err := tx.One(ctx, "SELECT sql FROM sqlite_schema WHERE name = 'texts_words'", nil, &definition); err != nil || !found {
		return errors.Join(errors.New("the schema has no full-text index"), err)
	}
	type setting struct {
		name  string
		value any
	}
	var settings []setting
	if err := tx.Each(ctx, "SELECT k, v FROM texts_words_config WHERE k <> 'version'", nil, func(rows *sql.Rows) error {
		var s setting
		err := rows.Scan(&s.name, &s.value)
		settings = append(settings, s)
		return err
	}); err != nil {
		return fmt.Errorf("read the settings of the full-text index: %w", err)
	}
	if err := tx.Exec(ctx, "DROP TABLE texts_words"); err != nil {
		return fmt.Errorf("drop the full-text index: %w", err)
	}
	if err := tx.Exec(ctx, definition); err != nil {
		return fmt.Errorf("create the full-text index: %w", err)
	}
	for _, s := range settings {
		if err := tx.Exec(ctx, "INSERT INTO texts_words (texts_words, rank) VALUES ($1, $2)", s.name, s.value); err != nil {
			return fmt.Errorf("set %s of the full-text index: %w", s.name, err)
		}
	}
	for _, statement := range []string{
		"INSERT INTO texts_words (rowid, words) SELECT id, words FROM texts_by_workspace ORDER BY id",
		"UPDATE texts_indexed SET upto = (SELECT COALESCE(max(id), 0) FROM texts)",
		"DELETE FROM texts_gone",
	} {
		if err := tx.Exec(ctx, statement); err != nil {
			return fmt.Errorf("fill the full-text index: %w", err)
		}
	}
	return nil
}

// cardBatch is the number of cards that staleEntries compares at a time.
const cardBatch = 500

// staleEntries reports the cards whose rows in the texts table differ from their current
// content.
func staleEntries(ctx context.Context, v *store.RawView, report func(string) bool) error {
	type entry struct{ card, place, ref string }
	for after := ""; ; {
		ids, err := v.Strings(ctx, "SELECT id FROM cards WHERE id > $1 ORDER BY id LIMIT $2", after, cardBatch)
		if err != nil || len(ids) == 0 {
			return err
		}
		page := []any{after, ids[len(ids)-1]}
		indexed := map[entry]string{}
		if err := v.Each(ctx, "SELECT card_id, place, ref, words FROM texts WHERE card_id > $1 AND card_id <= $2", page,
			func(rows *sql.Rows) error {
				var (
					e     entry
					words string
				)
				err := rows.Scan(&e.card, &e.place, &e.ref, &words)
				indexed[e] = words
				return err
			}); err != nil {
			return err
		}
		var stale []string
		if err := v.Each(ctx, search.CardTexts, page, func(rows *sql.Rows) error {
			var (
				e       entry
				current string
			)
			if err := rows.Scan(&e.card, &e.place, &e.ref, &current); err != nil {
				return err
			}
			if indexed[e] != search.IndexedText(current) {
				stale = append(stale, e.card)
			}
			delete(indexed, e)
			return nil
		}); err != nil {
			return err
		}
		for e := range indexed { // entries whose content no longer exists
			stale = append(stale, e.card)
		}
		for _, id := range stale {
			if !report(id) {
				return nil
			}
		}
		after = ids[len(ids)-1]
	}
}
