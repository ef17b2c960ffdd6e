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

// What a comment says is stored with the comment and in the search index, and
// removed from both with it. The activity keeps the fact, the author and the
// time. The answers to idempotency keys hold the text for a day; they follow
// the comment.

// rewriteAnswers puts another text into the stored answers that hold a
// comment's: the new one of an edited comment, "" for a deleted one.
func (tx *Tx) rewriteAnswers(ctx context.Context, commentID, text string) error {
	type answer struct {
		owner, key string
		body       []byte
	}
	var all []answer
	const holding = "SELECT user_id, key, answer FROM idempotency WHERE comment_id = $1 AND fault = ''"
	if err := tx.each(ctx, holding, []any{commentID}, func(rows *sql.Rows) error {
		var a answer
		err := rows.Scan(&a.owner, &a.key, &a.body)
		all = append(all, a)
		return err
	}); err != nil {
		return fmt.Errorf("find answers of a comment: %w", err)
	}
	for _, a := range all {
		body, err := withText(a.body, text)
		if err != nil {
			return fmt.Errorf("rewrite the answer of a comment: %w", err)
		}
		const rewrite = "UPDATE idempotency SET answer = $1 WHERE user_id = $2 AND key = $3"
		if err := tx.exec(ctx, rewrite, body, a.owner, a.key); err != nil {
			return err
		}
	}
	return nil
}

// withText is an answer whose record has another text.
func withText(answer []byte, text string) ([]byte, error) {
	var envelope, record map[string]jsontext.Value
	if err := json.Unmarshal(answer, &envelope); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(envelope["data"], &record); err != nil {
		return nil, err
	}
	for _, step := range []struct {
		in   map[string]jsontext.Value
		name string
		is   any
	}{{record, "text", text}, {envelope, "data", record}} {
		value, err := json.Marshal(step.is, json.Deterministic(true))
		if err != nil {
			return nil, err
		}
		step.in[step.name] = value
	}
	return json.Marshal(envelope, json.Deterministic(true))
}

// redactBatch is how many entries are redacted in one transaction.
const redactBatch = 500

// redactComments removes what comments say from the activity of all boards, once
// after migration 026: until then an entry held the text, also after the
// comment was edited or deleted.
func (db *DB) redactComments(ctx context.Context) error {
	redact := func(ctx context.Context, tx *Tx, boardID, behind string) (string, bool, error) {
		after, _ := strconv.ParseInt(behind, 10, 64) // "" is the beginning
		last, n, err := tx.redactEntries(ctx, boardID, after)
		return strconv.FormatInt(last, 10), n == redactBatch, err
	}
	return db.fillBoards(ctx, "comment_texts", allBoards, "removing the texts of comments from the activity of boards", redact)
}

// redactEntries redacts the next entries of a locked board after a version. It
// returns the version of the last of them, and how many there were.
func (tx *Tx) redactEntries(ctx context.Context, boardID string, after int64) (last int64, n int, err error) {
	texts := map[int64][]byte{}
	const next = `SELECT version, changes FROM activity WHERE board_id = $1 AND version > $2
		AND type IN ($3, 'comment.edited') ORDER BY version LIMIT $4`
	args := []any{boardID, after, string(board.KindCommentAdded), redactBatch}
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
			return after, 0, fmt.Errorf("changes of %s in version %d: %w", boardID, version, err)
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
