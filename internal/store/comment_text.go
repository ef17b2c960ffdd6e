package store

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cardwall/internal/board"
)

// The text of a comment is stored in its row and in the search index. Both copies are
// deleted with the comment. The activity contains only the author and the time.
// Responses that are stored for idempotency keys contain the text for a day. Editing or
// deleting the comment rewrites these responses.

// rewriteResponses replaces the text of a comment in stored responses with its new text,
// or with "" if the comment is deleted.
func (tx *Tx) rewriteResponses(ctx context.Context, commentID, text string) error {
	type response struct {
		owner, key string
		body       []byte
	}
	var all []response
	const find = "SELECT user_id, key, answer FROM idempotency WHERE comment_id = $1 AND fault = ''"
	if err := tx.each(ctx, find, []any{commentID}, func(rows *sql.Rows) error {
		var r response
		err := rows.Scan(&r.owner, &r.key, &r.body)
		all = append(all, r)
		return err
	}); err != nil {
		return fmt.Errorf("find responses with a comment: %w", err)
	}
	for _, r := range all {
		body, err := withText(r.body, text)
		if err != nil {
			return fmt.Errorf("rewrite response with a comment: %w", err)
		}
		const rewrite = "UPDATE idempotency SET answer = $1 WHERE user_id = $2 AND key = $3"
		if err := tx.exec(ctx, rewrite, body, r.owner, r.key); err != nil {
			return err
		}
	}
	return nil
}

// withText returns a copy of a response, with the given text in its record.
func withText(response []byte, text string) ([]byte, error) {
	var envelope, record map[string]jsontext.Value
	if err := json.Unmarshal(response, &envelope); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(envelope["data"], &record); err != nil {
		return nil, err
	}
	for _, step := range []struct {
		object map[string]jsontext.Value
		field  string
		value  any
	}{{record, "text", text}, {envelope, "data", record}} {
		value, err := json.Marshal(step.value, json.Deterministic(true))
		if err != nil {
			return nil, err
		}
		step.object[step.field] = value
	}
	return json.Marshal(envelope, json.Deterministic(true))
}

// redactBatch is the maximum number of activity entries that one transaction redacts.
const redactBatch = 500

// redactComments removes the text of comments from the activity of all boards. It runs
// once, after migration 026. Entries from before the migration contain the text, even if
// the comment was edited or deleted later.
func (db *DB) redactComments(ctx context.Context) error {
	redact := func(ctx context.Context, tx *Tx, boardID, after string) (string, bool, error) {
		version, _ := strconv.ParseInt(after, 10, 64) // "" gives 0, before the first entry
		last, n, err := tx.redactEntries(ctx, boardID, version)
		return strconv.FormatInt(last, 10), n == redactBatch, err
	}
	return db.fillBoards(ctx, "comment_texts", allBoards, "removing the text of comments from the activity of boards", redact)
}

// redactEntries redacts at most redactBatch entries of a locked board after the given
// version. It returns the last version that it read and the number of entries read.
func (tx *Tx) redactEntries(ctx context.Context, boardID string, after int64) (last int64, n int, err error) {
	texts := map[int64][]byte{}
	const next = `SELECT version, changes FROM activity WHERE board_id = $1 AND version > $2
		AND type IN ($3, $4) ORDER BY version LIMIT $5`
	args := []any{boardID, after, string(board.KindCommentAdded), string(board.KindCommentEdited), redactBatch}
	if err := tx.each(ctx, next, args, func(rows *sql.Rows) error {
		var text []byte
		err := rows.Scan(&last, &text)
		texts[last] = text
		return err
	}); err != nil {
		return after, 0, err
	}
	for version, text := range texts {
		var changes map[string]jsontext.Value
		if err := json.Unmarshal(text, &changes); err != nil {
			return after, 0, fmt.Errorf("decode changes of %s in version %d: %w", boardID, version, err)
		}
		if changes["text"] == nil {
			continue
		}
		delete(changes, "text")
		if text, err = json.Marshal(changes, json.Deterministic(true)); err != nil {
			return after, 0, err
		}
		const redact = "UPDATE activity SET changes = $1 WHERE board_id = $2 AND version = $3"
		if err := tx.exec(ctx, redact, string(text), boardID, version); err != nil {
			return after, 0, err
		}
	}
	return last, len(texts), nil
}
