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

// searchChecks compare the search index with the texts of the cards.
func searchChecks(db *store.DB) []check {
	out := []check{{
		what: "card %s: its texts in the search index are out of date",
		find: staleTexts,
		repair: func(ctx context.Context, tx *store.RawTx, id string) error {
			return tx.ReindexCard(ctx, id)
		},
	}}
	if db.Engine().Dialect().RowLocks {
		out = append(out, check{
			what: "card %s: its texts are indexed under another workspace",
			text: `SELECT DISTINCT c.id FROM texts t JOIN cards c ON c.id = t.card_id JOIN boards b ON b.id = c.board_id
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
			what: "search: %s texts are missing from the full-text index",
			text: `SELECT CAST(n AS TEXT) FROM (SELECT count(*) AS n FROM texts t WHERE t.id <= (SELECT upto FROM texts_indexed)
				AND NOT EXISTS (SELECT 1 FROM texts_words_docsize d WHERE d.id = t.id)) WHERE n > 0`,
			repair: rebuildSearchIndex,
		}, check{
			what:   "search: %s texts are in the full-text index under another workspace",
			find:   misplacedTexts,
			repair: rebuildSearchIndex,
		})
	}
	return out
}

// misplacedTexts reports the number of texts in SQLite's full-text index that are not
// under the prefix of their workspace.
func misplacedTexts(ctx context.Context, v *store.RawView, report func(string) bool) error {
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
		return fmt.Errorf("read settings of full-text index: %w", err)
	}
	if err := tx.Exec(ctx, "DROP TABLE texts_words"); err != nil {
		return fmt.Errorf("drop full-text index: %w", err)
	}
	if err := tx.Exec(ctx, definition); err != nil {
		return fmt.Errorf("create full-text index: %w", err)
	}
	for _, s := range settings {
		if err := tx.Exec(ctx, "INSERT INTO texts_words (texts_words, rank) VALUES ($1, $2)", s.name, s.value); err != nil {
			return fmt.Errorf("set %s of full-text index: %w", s.name, err)
		}
	}
	for _, text := range []string{
		"INSERT INTO texts_words (rowid, words) SELECT id, words FROM texts_by_workspace ORDER BY id",
		"UPDATE texts_indexed SET upto = (SELECT COALESCE(max(id), 0) FROM texts)",
		"DELETE FROM texts_gone",
	} {
		if err := tx.Exec(ctx, text); err != nil {
			return fmt.Errorf("fill full-text index: %w", err)
		}
	}
	return nil
}

// textBatch is the number of cards that staleTexts compares at a time.
const textBatch = 500

// staleTexts finds the cards whose rows in the table texts differ from their current
// texts.
func staleTexts(ctx context.Context, v *store.RawView, report func(string) bool) error {
	type text struct{ card, place, ref string }
	for after := ""; ; {
		ids, err := v.Strings(ctx, "SELECT id FROM cards WHERE id > $1 ORDER BY id LIMIT $2", after, textBatch)
		if err != nil || len(ids) == 0 {
			return err
		}
		page := []any{after, ids[len(ids)-1]}
		indexed := map[text]string{}
		if err := v.Each(ctx, "SELECT card_id, place, ref, words FROM texts WHERE card_id > $1 AND card_id <= $2", page,
			func(rows *sql.Rows) error {
				var (
					t     text
					words string
				)
				err := rows.Scan(&t.card, &t.place, &t.ref, &words)
				indexed[t] = words
				return err
			}); err != nil {
			return err
		}
		var stale []string
		if err := v.Each(ctx, search.CardTexts, page, func(rows *sql.Rows) error {
			var (
				t       text
				current string
			)
			if err := rows.Scan(&t.card, &t.place, &t.ref, &current); err != nil {
				return err
			}
			if indexed[t] != search.IndexedText(current) {
				stale = append(stale, t.card)
			}
			delete(indexed, t)
			return nil
		}); err != nil {
			return err
		}
		for t := range indexed { // texts that no longer exist
			stale = append(stale, t.card)
		}
		for _, id := range stale {
			if !report(id) {
				return nil
			}
		}
		after = ids[len(ids)-1]
	}
}
