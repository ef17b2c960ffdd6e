package dbtool

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"cardwall/internal/board"
	"cardwall/internal/seal"
	"cardwall/internal/store"
)

const (
	resealBatch  = 50 // rows per transaction
	resealPasses = 5  // maximum number of passes; the last pass must find nothing to re-seal
)

// resealer re-seals the secrets of one database.
type resealer struct {
	db   *store.DB
	keys *seal.Keyring
}

// sealedValue is the value of a sealed column in one row.
type sealedValue struct {
	sealContext string
	sealed      []byte
	update      string // $1 is the new value, $2 the expected old value; $3… identify the row
	row         []any  // the arguments for $3…
}

// Reseal re-seals all values under the first key of the keyring, except those already
// sealed under that key. It returns the number of re-sealed values. When it returns a nil
// error, the other keys are no longer needed. Values that cannot be opened stay unchanged
// and cause an error at the end.
//
// Reseal uses short transactions, so servers can use the database in the meantime. It
// calls next before each batch and stops if next returns an error. After an interruption,
// another call of Reseal continues the work.
func Reseal(ctx context.Context, db *store.DB, next func() error) (done int, err error) {
	r := &resealer{db: db, keys: db.Keys()}
	if r.keys == nil {
		return 0, store.ErrNoKeys
	}
	first := r.keys.Current()
	if err := r.sealUnder(ctx, first); err != nil {
		return 0, err
	}
	for range resealPasses {
		n, stuck, err := r.pass(ctx, first, next)
		done += n
		switch {
		case err != nil:
			return done, fmt.Errorf("re-seal: %w", err)
		case n > 0:
			continue // the last pass must find nothing to re-seal
		case len(stuck) > 0:
			return done, fmt.Errorf("%d secrets cannot be opened, so the other keys are still needed: %w", len(stuck),
				errors.Join(stuck[:min(len(stuck), 5)]...))
		}
		return done, r.dropOtherKeys(ctx, first)
	}
	return done, errors.New("re-seal: a server still seals under another key: restart the servers with the new key, and run the " +
		"same command again")
}

// sealUnder makes all servers seal new values under the first key. When it returns, all
// transactions that sealed values under another key have ended.
func (r *resealer) sealUnder(ctx context.Context, first string) error {
	return r.setKeys(ctx, func(ids []string) []string {
		return append([]string{first}, slices.DeleteFunc(ids, func(id string) bool { return id == first })...)
	})
}

// dropOtherKeys records that only the first key is still needed.
func (r *resealer) dropOtherKeys(ctx context.Context, first string) error {
	return r.setKeys(ctx, func([]string) []string { return []string{first} })
}

// setKeys changes the recorded ids of the keys in use.
func (r *resealer) setKeys(ctx context.Context, change func(ids []string) []string) error {
	err := r.db.Write(ctx, board.System(), func(t *store.Tx) error {
		tx := t.Raw()
		ids, err := tx.SealKeys(ctx)
		if err != nil {
			return err
		}
		return tx.Exec(ctx, "UPDATE settings SET value = $1 WHERE key = $2", strings.Join(change(ids), ","), store.KeySetting)
	})
	if err != nil {
		return fmt.Errorf("record the keys in use: %w", err)
	}
	return nil
}

// sealedPageReaders returns one function for each table with sealed columns. Given a
// cursor, the function returns the sealed values in the next page of rows and the
// following cursor, which is nil after the last page.
func sealedPageReaders() []func(context.Context, *store.RawView, []any) ([]sealedValue, []any, error) {
	return []func(context.Context, *store.RawView, []any) ([]sealedValue, []any, error){sealedWebhooks, sealedPublicPages, sealedResponses}
}

// pass reads all values once and re-seals those that need it. stuck holds an error for
// each value that cannot be opened.
func (r *resealer) pass(ctx context.Context, first string, next func() error) (done int, stuck []error, err error) {
	for _, readPage := range sealedPageReaders() {
		cursor := []any{"", ""}
		for cursor != nil {
			if err := next(); err != nil {
				return done, stuck, err
			}
			var values []sealedValue
			if err := r.db.Read(ctx, board.System(), func(v *store.View) (err error) {
				values, cursor, err = readPage(ctx, v.Raw(), cursor)
				return err
			}); err != nil {
				return done, stuck, err
			}
			n, failed, err := r.reseal(ctx, first, values)
			done, stuck = done+n, append(stuck, failed...)
			if err != nil {
				return done, stuck, err
			}
		}
	}
	return done, stuck, nil
}

// reseal re-seals values in one transaction. It skips values that have changed since they
// were read; the next pass finds them again.
func (r *resealer) reseal(ctx context.Context, first string, values []sealedValue) (done int, stuck []error, err error) {
	resealed := make([][]byte, len(values))
	stale := 0
	for i, s := range values {
		if seal.KeyOf(s.sealed) == first {
			continue
		}
		plain, err := r.keys.Open(s.sealContext, s.sealed)
		if err != nil {
			stuck = append(stuck, fmt.Errorf("%s: %w", s.sealContext, err))
			continue
		}
		if resealed[i], err = r.keys.SealUnder(first, s.sealContext, plain); err != nil {
			return 0, stuck, err
		}
		stale++
	}
	if stale == 0 {
		return 0, stuck, nil
	}
	err = r.db.Write(ctx, board.System(), func(t *store.Tx) error {
		tx := t.Raw()
		done = 0
		for i, s := range values {
			if resealed[i] == nil {
				continue
			}
			n, err := tx.Affected(ctx, s.update, append([]any{resealed[i], s.sealed}, s.row...)...)
			if err != nil {
				return err
			}
			done += int(n)
		}
		return nil
	})
	return done, stuck, err
}

// sealedWebhooks returns the sealed values in a page of webhooks.
func sealedWebhooks(ctx context.Context, v *store.RawView, cursor []any) (out []sealedValue, next []any, err error) {
	n := 0
	err = v.Each(ctx, "SELECT id, address, secret, old_secret, headers FROM webhooks WHERE id > $1 ORDER BY id LIMIT $2",
		[]any{cursor[0], resealBatch}, func(rows *sql.Rows) error {
			var (
				id                            string
				address, secret, old, headers []byte
			)
			if err := rows.Scan(&id, &address, &secret, &old, &headers); err != nil {
				return err
			}
			n++
			next = []any{id}
			out = append(out,
				sealedValue{store.WebhookSealContext(id, "address"), address, "UPDATE webhooks SET address = $1 WHERE address = $2 AND id = $3", next},
				sealedValue{store.WebhookSealContext(id, "secret"), secret, "UPDATE webhooks SET secret = $1 WHERE secret = $2 AND id = $3", next})
			if old != nil {
				out = append(out, sealedValue{store.WebhookSealContext(id, "old-secret"), old, "UPDATE webhooks SET old_secret = $1 " +
					"WHERE old_secret = $2 AND id = $3", next})
			}
			if headers != nil {
				out = append(out, sealedValue{store.WebhookSealContext(id, "headers"), headers, "UPDATE webhooks SET headers = $1 " +
					"WHERE headers = $2 AND id = $3", next})
			}
			return nil
		})
	if n < resealBatch {
		next = nil
	}
	return out, next, err
}

// sealedResponses returns a page of sealed stored responses.
func sealedResponses(ctx context.Context, v *store.RawView, cursor []any) (out []sealedValue, next []any, err error) {
	err = v.Each(ctx, "SELECT user_id, key, answer FROM idempotency WHERE sealed = 1 AND (user_id, key) > ($1, $2) "+
		"ORDER BY user_id, key LIMIT $3",
		append(slices.Clone(cursor), resealBatch), func(rows *sql.Rows) error {
			var (
				user, key string
				response  []byte
			)
			if err := rows.Scan(&user, &key, &response); err != nil {
				return err
			}
			next = []any{user, key}
			out = append(out, sealedValue{store.ResponseSealContext(user, key), response, "UPDATE idempotency SET answer = $1 " +
				"WHERE answer = $2 AND user_id = $3 AND key = $4", next})
			return nil
		})
	if len(out) < resealBatch {
		next = nil
	}
	return out, next, err
}

// sealedPublicPages returns the sealed values in a page of rows about public pages.
func sealedPublicPages(ctx context.Context, v *store.RawView, cursor []any) (out []sealedValue, next []any, err error) {
	err = v.Each(ctx, "SELECT board_id, secret FROM public_pages WHERE board_id > $1 ORDER BY board_id LIMIT $2",
		[]any{cursor[0], resealBatch}, func(rows *sql.Rows) error {
			var (
				id     string
				secret []byte
			)
			if err := rows.Scan(&id, &secret); err != nil {
				return fmt.Errorf("read a public page: %w", err)
			}
			next = []any{id}
			out = append(out, sealedValue{store.PageSealContext(id), secret, "UPDATE public_pages SET secret = $1 WHERE secret = $2 " +
				"AND board_id = $3", next})
			return nil
		})
	if len(out) < resealBatch {
		next = nil
	}
	return out, next, err
}
