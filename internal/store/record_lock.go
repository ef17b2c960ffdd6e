package store

import "context"

// recordLocks holds, by the prefix of a record's id, the query with which a change to the record locks it.
var recordLocks = map[string]string{
	"brd_": boardLock, "lst_": listLock, "crd_": cardLock, "lbl_": labelLock, "chk_": checklistLock, "cmt_": commentLock,
	"att_": attachmentLock, "rul_": ruleLock, "whk_": webhookLock, "flt_": filterLock, "wsp_": workspaceLock,
	"upl_": "SELECT u.id FROM uploads u WHERE u.id = $1 FOR UPDATE OF u", "job_": "SELECT j.id FROM jobs j WHERE j.id = $1 FOR UPDATE OF j",
}

// LockRecord locks a record that the transaction is about to read and then change, so that nothing can change it
// in between. If the change needs another record on a board as well, other is its id, and otherwise "".
func (tx *Tx) LockRecord(ctx context.Context, id, other string) error {
	if other != "" {
		return tx.LockBoardsOf(ctx, id, other)
	}
	if len(id) < len("brd_") || recordLocks[id[:len("brd_")]] == "" {
		return nil // there is no such record
	}
	return tx.lock(ctx, recordLocks[id[:len("brd_")]], id)
}
