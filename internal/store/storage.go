package store

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"cardwall/internal/board"
)

// Each board's row counts the bytes of the board's text and of its activity. The statement
// that writes the board's version also updates these counters. So counting needs no extra
// statement, and changes to different boards of an organization don't wait for each other.
// The storage that an organization uses is the sum over its boards and templates. It is
// computed when a plan is shown, and from time to time when something is added (see
// storageMeter).

// recordSize is the storage that is counted for a record that the transaction loaded or
// wrote.
type recordSize struct {
	boardID string
	bytes   int64
}

// growth is the amount by which a transaction changes a board's counters, in bytes.
type growth struct{ text, activity int64 }

// sizeOf returns the storage that is counted for a record with the given text fields, in
// bytes.
func sizeOf(texts ...string) int64 {
	n := int64(board.RecordBytes)
	for _, t := range texts {
		n += int64(len(t))
	}
	return n
}

// loadedRecord remembers the size of a record before the transaction changes it.
func (tx *Tx) loadedRecord(id, boardID string, texts ...string) {
	tx.loadedBytes(id, boardID, 0, texts...)
}

// loadedBytes is like loadedRecord, for a record with a file.
func (tx *Tx) loadedBytes(id, boardID string, file int64, texts ...string) {
	if tx.sizes == nil {
		tx.sizes = map[string]recordSize{}
	}
	tx.sizes[id] = recordSize{boardID, file + sizeOf(texts...)}
}

// storedRecord counts a record with the text fields that the transaction writes. A record
// that was not loaded counts as new.
func (tx *Tx) storedRecord(id, boardID string, texts ...string) {
	tx.storedBytes(id, boardID, 0, texts...)
}

// storedBytes is like storedRecord, for a record with a file.
func (tx *Tx) storedBytes(id, boardID string, file int64, texts ...string) {
	before := tx.sizes[id]
	tx.loadedBytes(id, boardID, file, texts...)
	tx.grow(boardID, tx.sizes[id].bytes-before.bytes, 0)
}

// deletedRecord counts the deletion of a record that was loaded.
func (tx *Tx) deletedRecord(id string) {
	if size, ok := tx.sizes[id]; ok {
		tx.grow(size.boardID, -size.bytes, 0)
		delete(tx.sizes, id)
	}
}

// boardOf returns the id of the board of a record that was loaded or written.
func (tx *Tx) boardOf(id string) string { return tx.sizes[id].boardID }

// grow adds to the growth of a board. If boardID is "", it does nothing.
func (tx *Tx) grow(boardID string, text, activity int64) {
	if boardID == "" {
		return
	}
	if tx.grown == nil {
		tx.grown = map[string]growth{}
	}
	g := tx.grown[boardID]
	tx.grown[boardID] = growth{g.text + text, g.activity + activity}
}

// moveBytes moves the bytes of cards from one board's counter to another's. The condition
// selects the cards by the alias c.
func (tx *Tx) moveBytes(ctx context.Context, from, to, condition string, args ...any) error {
	var n int64
	if _, err := tx.one(ctx, "SELECT "+cardBytes(condition), args, &n); err != nil {
		return fmt.Errorf("count storage: %w", err)
	}
	tx.grow(from, -n, 0)
	tx.grow(to, n, 0)
	return nil
}

// cardBytes returns an SQL expression for the bytes of cards and everything on them. The
// condition selects the cards by the alias c.
func cardBytes(condition string) string {
	return cardTextBytes(condition) + " + (SELECT CAST(COALESCE(sum(t.size), 0) AS BIGINT) FROM cards c JOIN attachments t " +
		"ON t.card_id = c.id AND t.removed_at IS NULL WHERE " + condition + ")"
}

// cardTextBytes is like cardBytes, but without the content of attached files.
func cardTextBytes(condition string) string {
	return sumBytes("cards c", condition, "c.title", "c.description") +
		" + " + sumBytes("cards c JOIN checklists k ON k.card_id = c.id", condition, "k.title") +
		" + " + sumBytes("cards c JOIN checklists k ON k.card_id = c.id JOIN checklist_items i ON i.checklist_id = k.id", condition, "i.title") +
		" + " + sumBytes("cards c JOIN comments m ON m.card_id = c.id", condition, "m.text") +
		" + " + sumBytes("cards c JOIN attachments t ON t.card_id = c.id AND t.removed_at IS NULL", condition, "t.name", "COALESCE(t.url, '')")
}

// sumBytes returns an SQL expression for the bytes of the selected records. It uses
// octet_length, which does not need to read the text itself.
func sumBytes(from, condition string, columns ...string) string {
	text := fmt.Sprint(board.RecordBytes)
	for _, c := range columns {
		text += " + octet_length(" + c + ")"
	}
	return "(SELECT CAST(COALESCE(sum(" + text + "), 0) AS BIGINT) FROM " + from + " WHERE " + condition + ")"
}

// BoardTextBytes returns an SQL expression for the bytes of text of the board b. The
// counter in the board's row must equal its value.
func BoardTextBytes() string {
	return fmt.Sprintf("(%d + octet_length(b.name) + octet_length(b.description) + ", board.RecordBytes) +
		cardBytes("c.board_id = b.id") +
		" + " + sumBytes("lists x", "x.board_id = b.id", "x.name") +
		" + " + sumBytes("labels x", "x.board_id = b.id", "x.name") +
		" + " + sumBytes("status_updates x", "x.board_id = b.id", "x.title", "x.text") + ")"
}

// BoardActivityBytes is like BoardTextBytes, for the activity of the board.
func BoardActivityBytes() string { return sumBytes("activity x", "x.board_id = b.id", "x.changes") }

// organizationBytes is an SQL expression for the bytes that the organization o uses.
const organizationBytes = `(SELECT CAST(COALESCE(sum(b.text_bytes + b.activity_bytes), 0) AS BIGINT)
		FROM workspaces w JOIN boards b ON b.workspace_id = w.id WHERE w.organization_id = o.id)
	+ (SELECT CAST(COALESCE(sum(octet_length(t.content)), 0) AS BIGINT)
		FROM workspaces w JOIN board_templates t ON t.workspace_id = w.id WHERE w.organization_id = o.id)`

// StorageQuota returns the amount of storage that an organization on the given plan may
// use.
func (v *View) StorageQuota(p board.Plan) board.Bytes { return v.db.storageQuota(p) }

func (db *DB) storageQuota(p board.Plan) board.Bytes {
	if quota, ok := db.opts.Storage[p]; ok {
		return quota
	}
	return p.Limits().Storage
}

// OrganizationStorage returns the storage that an organization uses. The organization
// must already be loaded.
func (v *View) OrganizationStorage(ctx context.Context, id string) (board.Bytes, error) {
	var used board.Bytes
	_, err := v.one(ctx, "SELECT "+organizationBytes+" FROM organizations o WHERE o.id = $1", []any{id}, &used)
	return used, err
}

// checkStorage returns a plan_limit error if the transaction adds text or templates to an
// organization whose storage would then exceed the limit of its plan. A transaction that
// adds only activity is allowed, so the content of a board can always be moved,
// completed, shortened and deleted.
func (tx *Tx) checkStorage(ctx context.Context) error {
	text, all := map[string]int64{}, map[string]int64{} // by organization
	for boardID, g := range tx.grown {
		organization := tx.On(boardID).OrganizationID
		text[organization] += g.text
		all[organization] += g.text + g.activity
	}
	for id, n := range tx.newTemplates {
		text[id] += n
		all[id] += n
	}
	tx.effects.stored = all
	if tx.caller.System {
		return nil
	}
	for _, id := range slices.Sorted(maps.Keys(text)) {
		if text[id] <= 0 || tx.db.storage.admits(id, all[id], tx.now) {
			continue
		}
		var (
			plan board.Plan
			used int64
		)
		if _, err := tx.one(ctx, "SELECT o.plan, "+organizationBytes+" FROM organizations o WHERE o.id = $1", []any{id},
			&plan, &used); err != nil {
			return fmt.Errorf("read storage: %w", err)
		}
		if tx.newTemplates[id] > 0 { // their rows are already written
			used -= tx.newTemplates[id]
		}
		quota := tx.db.storageQuota(plan)
		if used+all[id] > int64(quota) {
			return storageFull(plan, quota, board.Bytes(used))
		}
		tx.db.storage.remember(id, int64(quota)-used, tx.now)
	}
	return nil
}

// CheckStorage returns a plan_limit error if n more bytes in an organization would exceed
// the limit of its plan.
func (v *View) CheckStorage(ctx context.Context, organizationID string, n board.Bytes) error {
	plan, used, err := v.storage(ctx, organizationID)
	if err != nil {
		return err
	}
	if quota := v.db.storageQuota(plan); used+n > quota {
		return storageFull(plan, quota, used)
	}
	return nil
}

// StorageLeft returns how many bytes an organization can add. It is negative if the
// organization has more than its plan allows.
func (v *View) StorageLeft(ctx context.Context, organizationID string) (board.Bytes, error) {
	plan, used, err := v.storage(ctx, organizationID)
	return v.db.storageQuota(plan) - used, err
}

// storage returns the plan of an organization and the storage that it uses.
func (v *View) storage(ctx context.Context, organizationID string) (plan board.Plan, used board.Bytes, err error) {
	if _, err = v.one(ctx, "SELECT o.plan, "+organizationBytes+" FROM organizations o WHERE o.id = $1", []any{organizationID},
		&plan, &used); err != nil {
		err = fmt.Errorf("read storage: %w", err)
	}
	return plan, used, err
}

// FileLimit returns the maximum size of a file in an organization.
func (v *View) FileLimit(ctx context.Context, organizationID string) (board.Bytes, error) {
	var plan board.Plan
	if _, err := v.one(ctx, "SELECT plan FROM organizations WHERE id = $1", []any{organizationID}, &plan); err != nil {
		return 0, fmt.Errorf("read plan: %w", err)
	}
	return plan.Limits().FileSize, nil
}

func storageFull(plan board.Plan, quota, used board.Bytes) error {
	return board.Refuse(board.CodePlanLimit, "The organization's plan (%s) is limited to %s of storage, of which %s is used. "+
		"Delete data that you no longer need, or move to a larger plan.", plan, quota, used)
}

// writeGrowth updates the counters of boards whose rows flush does not write.
func (tx *Tx) writeGrowth(ctx context.Context) error {
	for _, id := range slices.Sorted(maps.Keys(tx.grown)) {
		if g := tx.grown[id]; g != (growth{}) && !slices.Contains(tx.touched, id) {
			if err := tx.exec(ctx, "UPDATE boards SET text_bytes = text_bytes + $1, activity_bytes = activity_bytes + $2 WHERE id = $3",
				g.text, g.activity, id); err != nil {
				return fmt.Errorf("count storage: %w", err)
			}
		}
	}
	return nil
}

const (
	// readingLifetime is the time for which a server relies on a reading, in milliseconds.
	readingLifetime = board.Instant(60 * 1000)
	// readingShare limits a server to 1/readingShare of the free storage until its next
	// reading, because other servers may use storage in the meantime.
	readingShare = 4
	// maxReadings is the maximum number of readings that a server stores. When it reaches
	// this number, it discards all readings.
	maxReadings = 50_000
)

// storageMeter caches how much free storage organizations have, so that most writes do not
// need to compute it. A write is refused only after it has computed the free storage
// itself. Concurrent writes don't see each other, so together they may exceed the quota of
// an organization.
type storageMeter struct {
	mu       sync.Mutex
	readings map[string]storageReading // by organization id
}

// storageReading is the free storage of an organization at an instant.
type storageReading struct {
	free  int64 // in bytes
	added int64 // bytes that this server has added since the reading
	at    board.Instant
}

// admits reports whether an organization has free storage for n more bytes according to
// a recent reading. If it returns false, the caller must compute the free storage.
func (m *storageMeter) admits(organizationID string, n int64, now board.Instant) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.readings[organizationID]
	return ok && r.at <= now && now < r.at+readingLifetime && r.added+n <= r.free/readingShare
}

func (m *storageMeter) remember(organizationID string, free int64, now board.Instant) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.readings == nil || len(m.readings) >= maxReadings {
		m.readings = map[string]storageReading{}
	}
	m.readings[organizationID] = storageReading{free: free, at: now}
}

// committed adds the bytes that a committed transaction stored, by organization.
func (m *storageMeter) committed(stored map[string]int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, n := range stored {
		if r, ok := m.readings[id]; ok {
			r.added += n
			m.readings[id] = r
		}
	}
}
