package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
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
