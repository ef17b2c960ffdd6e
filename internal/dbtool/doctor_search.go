package dbtool

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"cardwall/internal/store"
	"cardwall/internal/store/search"
)

// searchChecks returns the checks that compare the search index with the content of
// cards. If the index has other words than the text, either may be damaged.
func searchChecks(db *store.DB) []check {
	c := &comparison{}
	out := []check{{
		problem: "card %s: its search index entries have the form of an earlier version",
		find:    c.find(&c.outdated),
		repair: func(ctx context.Context, tx *store.RawTx, id string) error {
			return tx.ReindexCard(ctx, id)
		},
	}, {
		problem: "%s: the text and the search index differ, and either may be damaged",
		remedy:  reindexRemedy,
		choice:  Reindex,
		find:    c.find(&c.differing),
		repair: func(ctx context.Context, tx *store.RawTx, text string) error {
			return tx.ReindexCard(ctx, text[strings.LastIndexByte(text, ' ')+1:])
		},
	}}
	if db.Engine().Dialect().RowLocks {
		out = append(out, check{
			problem: "card %s: its search index entries belong to another workspace",
			query: `SELECT DISTINCT c.id FROM texts t JOIN cards c ON c.id = t.card_id JOIN boards b ON b.id = c.board_id
				WHERE t.workspace_id IS DISTINCT FROM b.workspace_id`,
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

// entry identifies a text on a card, and its row in the texts table.
type entry struct{ card, place, ref string }

// String names the text. The last word is the id of the card.
func (e entry) String() string { return strings.TrimSpace(e.place+" "+e.ref) + " of card " + e.card }

// comparison compares the texts table with the content of cards. Its checks share one
// comparison, because it reads all text.
type comparison struct {
	view      *store.RawView // the view that was compared last
	outdated  []string       // cards whose entries differ from their text only in how words are split
	differing []string       // texts whose entries have other words, are missing, or have no text
}

// find returns a function that reports the elements of found, which is a field of c.
func (c *comparison) find(found *[]string) func(context.Context, *store.RawView, func(string) bool) error {
	return func(ctx context.Context, v *store.RawView, report func(string) bool) (err error) {
		if c.view != v {
			c.view, c.outdated, c.differing = v, nil, nil
			err = c.compare(ctx, v)
		}
		for _, id := range *found {
			if !report(id) {
				break
			}
		}
		return err
	}
}

// cardBatch is the number of cards that compare reads at a time.
const cardBatch = 500

// compare finds repairBatch cards and texts, or all if there are fewer.
func (c *comparison) compare(ctx context.Context, v *store.RawView) error {
	for after := ""; len(c.outdated) < repairBatch || len(c.differing) < repairBatch; {
		ids, err := v.Strings(ctx, "SELECT id FROM cards WHERE id > $1 ORDER BY id LIMIT $2", after, cardBatch)
		if err != nil || len(ids) == 0 {
			return err
		}
		if err := c.comparePage(ctx, v, after, ids[len(ids)-1]); err != nil {
			return err
		}
		after = ids[len(ids)-1]
	}
	return nil
}

// comparePage compares the cards with after < id <= last.
func (c *comparison) comparePage(ctx context.Context, v *store.RawView, after, last string) error {
	page := []any{after, last}
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
	outdated, differing := map[string]bool{}, map[string]bool{} // cards
	var texts []string
	if err := v.Each(ctx, search.CardTexts, page, func(rows *sql.Rows) error {
		var (
			e    entry
			text string
		)
		if err := rows.Scan(&e.card, &e.place, &e.ref, &text); err != nil {
			return err
		}
		switch words, want := indexed[e], search.IndexedText(text); {
		case words == want:
		case search.IndexedText(words) == want: // for example, until v0.2.0, a run of Hangul was one word
			outdated[e.card] = true
		default:
			differing[e.card] = true
			texts = append(texts, e.String())
		}
		delete(indexed, e)
		return nil
	}); err != nil {
		return err
	}
	for e := range indexed { // entries whose text does not exist
		differing[e.card] = true
		texts = append(texts, e.String())
	}
	// The repair of a card replaces all its entries, so it must wait while one of them differs.
	maps.DeleteFunc(outdated, func(id string, _ bool) bool { return differing[id] })
	slices.Sort(texts)
	c.outdated, c.differing = append(c.outdated, slices.Sorted(maps.Keys(outdated))...), append(c.differing, texts...)
	c.outdated, c.differing = c.outdated[:min(len(c.outdated), repairBatch)], c.differing[:min(len(c.differing), repairBatch)]
	return nil
}
