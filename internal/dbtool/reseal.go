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
	resealBatch  = 50 // rows that are read and written together
	resealPasses = 5  // maximum number of passes until one finds nothing to do
)

// resealer re-seals the secrets of one database.
type resealer struct {
	db   *store.DB
	keys *seal.Keyring
}

// sealedValue is a sealed column of a row.
type sealedValue struct {
	place  string
	sealed []byte
	update string // $1 is the new value, $2 the expected old one, $3… identify the row
	row    []any
}

// Reseal seals every value that is sealed with another key again, with the first
// key of the ring. It uses short transactions, so servers can use the database
// meanwhile. It returns the number of values. When it returns nil, this database
// needs no other key. Values that cannot be opened stay unchanged and cause an
// error at the end. An interrupted Reseal continues when it is called again. It
// calls next before each batch and stops if that returns an error.
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
			continue // another pass, until one finds nothing
		case len(stuck) > 0:
			return done, fmt.Errorf("%d secrets cannot be opened, so the other keys stay in use: %w", len(stuck),
				errors.Join(stuck[:min(len(stuck), 5)]...))
		}
		return done, r.sealedUnder(ctx, first)
	}
	return done, errors.New("re-seal: a server still seals with another key: restart the servers with the new key, and run this again")
}

// sealUnder makes all servers seal with a key from now on. When it returns,
// everything that was sealed with another key is committed.
func (r *resealer) sealUnder(ctx context.Context, first string) error {
	return r.setKeys(ctx, func(ids []string) []string {
		return append([]string{first}, slices.DeleteFunc(ids, func(id string) bool { return id == first })...)
	})
}

// sealedUnder records that only the first key is needed from now on.
func (r *resealer) sealedUnder(ctx context.Context, first string) error {
	return r.setKeys(ctx, func([]string) []string { return []string{first} })
}

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

// sealedPageReaders are functions that each read a page of the sealed values of
// one table after a cursor. They return the next cursor, or nil at the end. Every
// sealed column is in one of them.
func sealedPageReaders() []func(context.Context, *store.RawView, []any) ([]sealedValue, []any, error) {
	return []func(context.Context, *store.RawView, []any) ([]sealedValue, []any, error){sealedWebhooks, sealedPages, sealedAnswers}
}

// resealAll makes one pass over all sealed values. Stuck is the reason why some
// could not be opened.
func (r *resealer) pass(ctx context.Context, first string, next func() error) (done int, stuck []error, err error) {
	for _, page := range sealedPageReaders() {
		mark := []any{"", ""}
		for mark != nil {
			if err := next(); err != nil {
				return done, stuck, err
			}
			var values []sealedValue
			if err := r.db.Read(ctx, board.System(), func(v *store.View) (err error) {
				values, mark, err = page(ctx, v.Raw(), mark)
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

// reseal re-seals some values in one transaction. A value that changed since it
// was read is left to the next pass.
func (r *resealer) reseal(ctx context.Context, first string, values []sealedValue) (done int, stuck []error, err error) {
	fresh := make([][]byte, len(values))
	stale := 0
	for i, s := range values {
		if seal.KeyOf(s.sealed) == first {
			continue
		}
		plain, err := r.keys.Open(s.place, s.sealed)
		if err != nil {
			stuck = append(stuck, fmt.Errorf("%s: %w", s.place, err))
			continue
		}
		if fresh[i], err = r.keys.SealUnder(first, s.place, plain); err != nil {
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
			if fresh[i] == nil {
				continue
			}
			n, err := tx.Affected(ctx, s.update, append([]any{fresh[i], s.sealed}, s.row...)...)
			if err != nil {
				return err
			}
			done += int(n)
		}
		return nil
	})
	return done, stuck, err
}

// sealedWebhooks returns a page of the sealed values of webhooks.
func sealedWebhooks(ctx context.Context, v *store.RawView, mark []any) (out []sealedValue, next []any, err error) {
	n := 0
	err = v.Each(ctx, "SELECT id, address, secret, old_secret FROM webhooks WHERE id > $1 ORDER BY id LIMIT $2",
		[]any{mark[0], resealBatch}, func(rows *sql.Rows) error {
			var (
				id                   string
				address, secret, old []byte
			)
			if err := rows.Scan(&id, &address, &secret, &old); err != nil {
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
			return nil
		})
	if n < resealBatch {
		next = nil
	}
	return out, next, err
}

// sealedAnswers returns a page of the stored responses that hold a secret.
func sealedAnswers(ctx context.Context, v *store.RawView, mark []any) (out []sealedValue, next []any, err error) {
	err = v.Each(ctx, "SELECT user_id, key, answer FROM idempotency WHERE sealed = 1 AND (user_id, key) > ($1, $2) "+
		"ORDER BY user_id, key LIMIT $3",
		append(slices.Clone(mark), resealBatch), func(rows *sql.Rows) error {
			var (
				user, key string
				answer    []byte
			)
			if err := rows.Scan(&user, &key, &answer); err != nil {
				return err
			}
			next = []any{user, key}
			out = append(out, sealedValue{store.ResponseSealContext(user, key), answer, "UPDATE idempotency SET answer = $1 " +
				"WHERE answer = $2 AND user_id = $3 AND key = $4", next})
			return nil
		})
	if len(out) < resealBatch {
		next = nil
	}
	return out, next, err
}

// sealedPages returns a page of the sealed values of public pages.
func sealedPages(ctx context.Context, v *store.RawView, mark []any) (out []sealedValue, next []any, err error) {
	err = v.Each(ctx, "SELECT board_id, secret FROM public_pages WHERE board_id > $1 ORDER BY board_id LIMIT $2",
		[]any{mark[0], resealBatch}, func(rows *sql.Rows) error {
			var (
				id     string
				secret []byte
			)
			if err := rows.Scan(&id, &secret); err != nil {
				return fmt.Errorf("read a sealed page: %w", err)
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
