package store

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"cardwall/internal/board"
)

// Each board counts the bytes of its texts and of its activity in its own row, in
// the statement that writes its version. So counting costs no statement, and
// boards of one organization don't wait for each other. What an organization uses
// is the sum over its boards and templates. It is read when a plan is shown, and
// from time to time when something is added (see storageMeter).

// recordSize is what a record that this transaction loaded or wrote counts.
type recordSize struct {
	boardID string
	bytes   int64
}

// growth is by how much a transaction changes what a board counts.
type growth struct{ text, activity int64 }

func sizeOf(texts ...string) int64 {
	n := int64(board.RecordBytes)
	for _, t := range texts {
		n += int64(len(t))
	}
	return n
}

// loadedRecord remembers what a record counts before the transaction changes it.
func (tx *Tx) loadedRecord(id, boardID string, texts ...string) {
	if tx.sizes == nil {
		tx.sizes = map[string]recordSize{}
	}
	tx.sizes[id] = recordSize{boardID, sizeOf(texts...)}
}

// storedRecord counts a record with its texts as the transaction writes them. A
// record that was not loaded is new.
func (tx *Tx) storedRecord(id, boardID string, texts ...string) {
	before := tx.sizes[id]
	tx.loadedRecord(id, boardID, texts...)
	tx.grow(boardID, tx.sizes[id].bytes-before.bytes, 0)
}

// deletedRecord counts the deletion of a record that was loaded.
func (tx *Tx) deletedRecord(id string) {
	if size, ok := tx.sizes[id]; ok {
		tx.grow(size.boardID, -size.bytes, 0)
		delete(tx.sizes, id)
	}
}

// boardOf returns the board of a record that was loaded or written.
func (tx *Tx) boardOf(id string) string { return tx.sizes[id].boardID }

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

// moveBytes counts cards on another board. The condition selects them as c.
func (tx *Tx) moveBytes(ctx context.Context, from, to, condition string, args ...any) error {
	var n int64
	if _, err := tx.one(ctx, "SELECT "+cardBytes(condition), args, &n); err != nil {
		return fmt.Errorf("count storage: %w", err)
	}
	tx.grow(from, -n, 0)
	tx.grow(to, n, 0)
	return nil
}

// cardBytes is an expression for what cards and everything on them count. The
// condition selects them as c.
func cardBytes(condition string) string {
	return sumBytes("cards c", condition, "c.title", "c.description") +
		" + " + sumBytes("cards c JOIN checklists k ON k.card_id = c.id", condition, "k.title") +
		" + " + sumBytes("cards c JOIN checklists k ON k.card_id = c.id JOIN checklist_items i ON i.checklist_id = k.id", condition, "i.title") +
		" + " + sumBytes("cards c JOIN comments m ON m.card_id = c.id", condition, "m.text")
}

// sumBytes is an expression for what the selected records count. octet_length reads
// no long text, only how long it is.
func sumBytes(from, condition string, columns ...string) string {
	text := fmt.Sprint(board.RecordBytes)
	for _, c := range columns {
		text += " + octet_length(" + c + ")"
	}
	return "(SELECT CAST(COALESCE(sum(" + text + "), 0) AS BIGINT) FROM " + from + " WHERE " + condition + ")"
}

// BoardTextBytes and BoardActivityBytes are expressions for what the rows of the
// board b count. The counters of the board must agree with them.
func BoardTextBytes() string {
	return fmt.Sprintf("(%d + octet_length(b.name) + octet_length(b.description) + ", board.RecordBytes) +
		cardBytes("c.board_id = b.id") +
		" + " + sumBytes("lists x", "x.board_id = b.id", "x.name") +
		" + " + sumBytes("labels x", "x.board_id = b.id", "x.name") +
		" + " + sumBytes("status_updates x", "x.board_id = b.id", "x.title", "x.text") + ")"
}

// BoardActivityBytes is described at BoardTextBytes.
func BoardActivityBytes() string { return sumBytes("activity x", "x.board_id = b.id", "x.changes") }

// organizationBytes is an expression for what an organization, o, uses.
const organizationBytes = `(SELECT CAST(COALESCE(sum(b.text_bytes + b.activity_bytes), 0) AS BIGINT)
		FROM workspaces w JOIN boards b ON b.workspace_id = w.id WHERE w.organization_id = o.id)
	+ (SELECT CAST(COALESCE(sum(octet_length(t.content)), 0) AS BIGINT)
		FROM workspaces w JOIN board_templates t ON t.workspace_id = w.id WHERE w.organization_id = o.id)`

// StorageQuota returns how much an organization on a plan may store.
func (v *View) StorageQuota(p board.Plan) board.Bytes { return v.db.storageQuota(p) }

func (db *DB) storageQuota(p board.Plan) board.Bytes {
	if quota, ok := db.opts.Storage[p]; ok {
		return quota
	}
	return p.Limits().Storage
}

// OrganizationStorage returns how much an organization that a loader has loaded
// stores.
func (v *View) OrganizationStorage(ctx context.Context, id string) (board.Bytes, error) {
	var used board.Bytes
	_, err := v.one(ctx, "SELECT "+organizationBytes+" FROM organizations o WHERE o.id = $1", []any{id}, &used)
	return used, err
}

// checkStorage refuses a transaction that adds to what an organization stores if
// its plan has no room. Activity does not count as an addition, so the content
// of a board can always be moved, finished, shortened and deleted.
func (tx *Tx) checkStorage(ctx context.Context) error {
	text, all := map[string]int64{}, map[string]int64{} // by organization
	for boardID, g := range tx.grown {
		organization := tx.On(boardID).OrganizationID
		text[organization] += g.text
		all[organization] += g.text + g.activity
	}
	for id, n := range tx.templates {
		text[id] += n
		all[id] += n
	}
	tx.stored = all
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
		if tx.templates[id] > 0 { // their rows are there already
			used -= tx.templates[id]
		}
		quota := tx.db.storageQuota(plan)
		if used+all[id] > int64(quota) {
			return storageFull(plan, quota, board.Bytes(used))
		}
		tx.db.storage.read(id, int64(quota)-used, tx.now)
	}
	return nil
}

// CheckStorage refuses to store n more bytes in an organization if its plan has no
// room for them.
func (v *View) CheckStorage(ctx context.Context, organizationID string, n board.Bytes) error {
	var (
		plan board.Plan
		used board.Bytes
	)
	if _, err := v.one(ctx, "SELECT o.plan, "+organizationBytes+" FROM organizations o WHERE o.id = $1", []any{organizationID},
		&plan, &used); err != nil {
		return fmt.Errorf("read storage: %w", err)
	}
	if quota := v.db.storageQuota(plan); used+n > quota {
		return storageFull(plan, quota, used)
	}
	return nil
}

func storageFull(plan board.Plan, quota, used board.Bytes) error {
	return board.Refuse(board.CodePlanLimit, "The organization's plan (%s) is limited to %s of storage; %s are used. "+
		"Delete what is no longer needed, or move to a larger plan.", plan, quota, used)
}

// writeGrowth counts on boards whose row the transaction does not write otherwise.
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
	// readingLifetime is how long, in milliseconds, a server relies on a reading.
	readingLifetime = board.Instant(60 * 1000)
	// readingShare is the part of the free storage that a server grants before it
	// reads again. Other servers may grant the same amount meanwhile.
	readingShare = 4
	// maxReadings is how many organizations are remembered.
	maxReadings = 50_000
)

// storageMeter remembers how much storage organizations have left, so that most
// writes need not read it. A write is refused only after it has read the storage
// itself. Concurrent writes don't see each other, so together they may exceed the
// quota of an organization.
type storageMeter struct {
	mu sync.Mutex
	of map[string]storageReading // by organization
}

type storageReading struct {
	free  int64
	added int64 // by this server since then
	at    board.Instant
}

// admits reports whether an organization certainly has room for n more bytes.
func (m *storageMeter) admits(organizationID string, n int64, now board.Instant) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.of[organizationID]
	return ok && r.at <= now && now < r.at+readingLifetime && r.added+n <= r.free/readingShare
}

func (m *storageMeter) read(organizationID string, free int64, now board.Instant) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.of == nil || len(m.of) >= maxReadings {
		m.of = map[string]storageReading{}
	}
	m.of[organizationID] = storageReading{free: free, at: now}
}

// committed adds what a committed transaction stored.
func (m *storageMeter) committed(stored map[string]int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, n := range stored {
		if r, ok := m.of[id]; ok {
			r.added += n
			m.of[id] = r
		}
	}
}
