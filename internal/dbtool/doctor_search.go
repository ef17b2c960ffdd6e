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
		what: "card %s: search knows other texts than it has",
		find: staleTexts,
		repair: func(ctx context.Context, tx *store.RawTx, id string) error {
			return tx.ReindexCard(ctx, id)
		},
	}}
	if db.Engine().Dialect().RowLocks {
		out = append(out, check{
			what: "card %s: search looks for its texts in another workspace",
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
			what: "search: %s texts are not in the index of words",
			text: `SELECT CAST(n AS TEXT) FROM (SELECT count(*) AS n FROM texts t WHERE t.id <= (SELECT upto FROM texts_indexed)
				AND NOT EXISTS (SELECT 1 FROM texts_words_docsize d WHERE d.id = t.id)) WHERE n > 0`,
			repair: rebuildWords,
		}, check{
			what:   "search: %s texts stand in the index of words under another workspace",
			find:   strayWords,
			repair: rebuildWords,
		})
	}
	return out
}

// strayWords counts the texts in SQLite's search index that are not under the prefix
// of their workspace.
func strayWords(ctx context.Context, v *store.RawView, wrong func(string) bool) error {
	ids, err := v.Strings(ctx, "SELECT id FROM workspaces ORDER BY id")
	if err != nil {
		return err
	}
	strayed := 0
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
		strayed += n
	}
	if strayed > 0 {
		wrong(strconv.Itoa(strayed))
	}
	return nil
}

// rebuildWords recreates SQLite's search index, even a damaged one.
func rebuildWords(ctx context.Context, tx *store.RawTx, _ string) error {
	var made string
	if found, err := tx.One(ctx, "SELECT sql FROM sqlite_schema WHERE name = 'texts_words'", nil, &made); err != nil || !found {
		return errors.Join(errors.New("the index of words is not in the schema"), err)
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
		return fmt.Errorf("read the settings of the index: %w", err)
	}
	if err := tx.Exec(ctx, "DROP TABLE texts_words"); err != nil {
		return fmt.Errorf("drop the index: %w", err)
	}
	if err := tx.Exec(ctx, made); err != nil {
		return fmt.Errorf("make the index: %w", err)
	}
	for _, s := range settings {
		if err := tx.Exec(ctx, "INSERT INTO texts_words (texts_words, rank) VALUES ($1, $2)", s.name, s.value); err != nil {
			return fmt.Errorf("set %s of the index: %w", s.name, err)
		}
	}
	for _, text := range []string{
		"INSERT INTO texts_words (rowid, words) SELECT id, words FROM texts_by_workspace ORDER BY id",
		"UPDATE texts_indexed SET upto = (SELECT COALESCE(max(id), 0) FROM texts)",
		"DELETE FROM texts_gone",
	} {
		if err := tx.Exec(ctx, text); err != nil {
			return fmt.Errorf("index words: %w", err)
		}
	}
	return nil
}

// textBatch is how many cards staleTexts compares at a time.
const textBatch = 500

// staleTexts finds the cards whose rows in the table texts differ from their texts.
func staleTexts(ctx context.Context, v *store.RawView, wrong func(string) bool) error {
	type text struct{ card, place, ref string }
	for behind := ""; ; {
		ids, err := v.Strings(ctx, "SELECT id FROM cards WHERE id > $1 ORDER BY id LIMIT $2", behind, textBatch)
		if err != nil || len(ids) == 0 {
			return err
		}
		page := []any{behind, ids[len(ids)-1]}
		known := map[text]string{}
		if err := v.Each(ctx, "SELECT card_id, place, ref, words FROM texts WHERE card_id > $1 AND card_id <= $2", page,
			func(rows *sql.Rows) error {
				var (
					t     text
					words string
				)
				err := rows.Scan(&t.card, &t.place, &t.ref, &words)
				known[t] = words
				return err
			}); err != nil {
			return err
		}
		var stale []string
		if err := v.Each(ctx, search.CardTexts, page, func(rows *sql.Rows) error {
			var (
				t    text
				says string
			)
			if err := rows.Scan(&t.card, &t.place, &t.ref, &says); err != nil {
				return err
			}
			if known[t] != search.IndexedText(says) {
				stale = append(stale, t.card)
			}
			delete(known, t)
			return nil
		}); err != nil {
			return err
		}
		for t := range known { // of what is no longer said
			stale = append(stale, t.card)
		}
		for _, id := range stale {
			if !wrong(id) {
				return nil
			}
		}
		behind = ids[len(ids)-1]
	}
}
