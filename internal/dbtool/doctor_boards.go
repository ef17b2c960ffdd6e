package dbtool

import (
	"context"
	"fmt"
	"strings"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/store"
	"cardwall/internal/store/search"
)

// boardChecks returns the checks that compare the counters of boards and cards, and other
// derived data, with the rows that they summarize. It also returns the checks for rules
// that the schema does not enforce, such as that every workspace has an owner.
func boardChecks() []check {
	const (
		// Entries up to reduced_to may have been removed.
		changes = "(SELECT count(*) FROM activity a WHERE a.board_id = b.id AND a.version > b.reduced_to)"
		last    = "COALESCE((SELECT max(a.version) FROM activity a WHERE a.board_id = b.id), 0)"
		// If the sequence has gaps, the last version may be the one that is damaged.
		gapless = "(" + changes + " = CASE WHEN " + last + " > b.reduced_to THEN " + last + " - b.reduced_to ELSE 0 END)"
		// A job creates a board in several transactions, and housekeeping deletes a board
		// in several. In the meantime, the board is hidden and may be incomplete.
		complete = "(b.trashed_at IS NULL OR b.trashed_at > 0) AND "
		// A job may still be writing entries.
		recorded = "NOT EXISTS (SELECT 1 FROM pending_activity p WHERE p.board_id = b.id) AND "
	)
	count := func(problem, table, condition string) check {
		if table == "boards" {
			condition = complete + condition
		}
		return check{problem: strings.TrimSuffix(table, "s") + " %s: " + problem, query: "SELECT b.id FROM " + table + " b WHERE " +
			condition, repair: recount}
	}
	return []check{
		{problem: "board %s: the sequence of its changes has gaps", remedy: restoreRemedy,
			query: "SELECT b.id FROM boards b WHERE " + complete + recorded + "NOT " + gapless},
		{problem: "board %s: its most recent changes are missing", remedy: restoreRemedy,
			query: "SELECT b.id FROM boards b WHERE " + complete + recorded + "b.version > b.reduced_to AND b.version > " + last},
		{problem: "board %s: its version is lower than that of its last change",
			query: "SELECT b.id FROM boards b WHERE " + complete + "b.version < " + last + " AND " + gapless,
			repair: func(ctx context.Context, tx *store.RawTx, id string) error {
				if err := tx.LockBoard(ctx, id); err != nil {
					return err
				}
				return tx.Exec(ctx, "UPDATE boards SET version = (SELECT max(a.version) FROM activity a "+
					"WHERE a.board_id = boards.id) WHERE id = $1", id)
			}},
		{problem: "delivery %s: its version is higher than the version of its board", remedy: restoreRemedy,
			query: "SELECT d.id FROM deliveries d JOIN boards b ON b.id = d.board_id WHERE d.version > b.version AND d.version > " + last},
		count("the number of open cards is wrong", "boards", "b.open_cards <> "+store.CountOpenCards),
		count("the number of done cards is wrong", "boards", "b.done_cards <> "+store.CountDoneCards),
		count("the number of cards is wrong", "boards", "b.all_cards <> "+visibleCards),
		count("the number of open lists is wrong", "boards", "b.open_lists <> (SELECT count(*) FROM lists l WHERE l.board_id = b.id "+
			"AND l.archived_at IS NULL)"),
		count("the size of its content is wrong", "boards", "b.counted_at IS NOT NULL AND (b.text_bytes <> "+store.BoardTextBytes()+
			" OR b.activity_bytes <> "+store.BoardActivityBytes()+")"),
		count("the next card number is already in use", "boards", "EXISTS (SELECT 1 FROM cards c WHERE c.board_id = b.id "+
			"AND c.number >= b.next_number)"),
		count("the number of comments is wrong", "cards", "b.comments <> (SELECT count(*) FROM comments m WHERE m.card_id = b.id)"),
		count("the number of attachments is wrong", "cards", "b.attachments <> (SELECT count(*) FROM attachments t WHERE t.card_id = b.id "+
			"AND t.removed_at IS NULL)"),
		count("the number of checklist items is wrong", "cards", "b.items_total <> (SELECT count(*) FROM checklist_items i "+
			"JOIN checklists k ON k.id = i.checklist_id WHERE k.card_id = b.id)"),
		count("the number of completed checklist items is wrong", "cards", "b.items_done <> (SELECT count(i.done_at) FROM checklist_items i "+
			"JOIN checklists k ON k.id = i.checklist_id WHERE k.card_id = b.id)"),
		{problem: "card %s: its list is on another board", remedy: restoreRemedy, query: "SELECT c.id FROM cards c JOIN lists l ON l.id = " +
			"c.list_id WHERE l.board_id <> c.board_id"},
		{problem: "card %s: it has a label of another board", remedy: "remove the label from the card",
			query: "SELECT DISTINCT k.card_id FROM card_labels k JOIN cards c ON c.id = k.card_id JOIN labels a ON a.id = k.label_id " +
				"WHERE a.board_id <> c.board_id"},
		missingPicture("users", "avatar", "avatars p WHERE p.user_id = o.id"),
		missingPicture("boards", "background", "backgrounds p WHERE p.board_id = o.id AND p.version = o.background"),
		{problem: "workspace %s: its dashboard does not show the cards of a deleted account",
			query: "SELECT DISTINCT n.workspace_id FROM (" + missingFormerMembers + ") AS n",
			repair: func(ctx context.Context, tx *store.RawTx, id string) error {
				return tx.Exec(ctx, "INSERT INTO former_members (workspace_id, user_id) SELECT DISTINCT n.workspace_id, n.user_id FROM ("+
					missingFormerMembers+") AS n WHERE n.workspace_id = $1 ON CONFLICT DO NOTHING", id)
			}},
		{problem: "board %s: the summary for reports is wrong", find: func(ctx context.Context, v *store.RawView,
			report func(string) bool) error {
			return v.WrongSummaries(ctx, report)
		}, repair: func(ctx context.Context, tx *store.RawTx, id string) error { return tx.DropSummary(ctx, id) }},
		{problem: "workspace %s: it has no owner", remedy: restoreRemedy,
			query: "SELECT w.id FROM workspaces w WHERE w.trashed_at IS NULL AND NOT EXISTS (SELECT 1 FROM workspace_members m " +
				"WHERE m.workspace_id = w.id AND m.role = 'owner')"},
	}
}

// visibleCards counts the cards of the board b, except those in hidden lists.
const visibleCards = "(SELECT count(*) FROM cards c JOIN lists l ON l.id = c.list_id WHERE c.board_id = b.id AND " + search.ShownList + ")"

// missingFormerMembers selects the deleted accounts (those without an email address) that
// are assigned to cards of a workspace but are missing from its former members.
const missingFormerMembers = `SELECT b.workspace_id, u.id AS user_id FROM users u JOIN card_assignees k ON k.user_id = u.id
	JOIN cards c ON c.id = k.card_id JOIN boards b ON b.id = c.board_id
	WHERE u.email IS NULL AND NOT EXISTS (SELECT 1 FROM former_members f WHERE f.workspace_id = b.workspace_id AND f.user_id = u.id)`

// recount repairs the counters of a board or card.
func recount(ctx context.Context, tx *store.RawTx, id string) error {
	lock, text := tx.LockBoardOfCard, `UPDATE cards SET comments = (SELECT count(*) FROM comments m WHERE m.card_id = cards.id),
		attachments = (SELECT count(*) FROM attachments t WHERE t.card_id = cards.id AND t.removed_at IS NULL),
		items_total = (SELECT count(*) FROM checklist_items i JOIN checklists k ON k.id = i.checklist_id WHERE k.card_id = cards.id),
		items_done = (SELECT count(i.done_at) FROM checklist_items i JOIN checklists k ON k.id = i.checklist_id
		WHERE k.card_id = cards.id) WHERE id = $1`
	if strings.HasPrefix(id, "brd_") {
		lock, text = tx.LockBoard, `UPDATE boards AS b SET open_cards = `+store.CountOpenCards+`,
			done_cards = `+store.CountDoneCards+`, all_cards = `+visibleCards+`,
			open_lists = (SELECT count(*) FROM lists l WHERE l.board_id = b.id AND l.archived_at IS NULL),
			text_bytes = `+store.BoardTextBytes()+`, activity_bytes = `+store.BoardActivityBytes()+`,
			next_number = (SELECT max(n) FROM (SELECT b.next_number AS n UNION ALL SELECT c.number + 1 FROM cards c
			WHERE c.board_id = b.id) AS numbers) WHERE b.id = $1`
	}
	if err := lock(ctx, id); err != nil {
		return err
	}
	return tx.Exec(ctx, text, id)
}

// deliveryChecks returns the checks for deliveries with an unknown status, or with times
// that contradict their status. Such a delivery may never be sent, or be sent repeatedly.
func deliveryChecks() []check {
	waiting := quotedValues(board.DeliveryPending, board.DeliveryDelivering, board.DeliveryRetry)
	ended := quotedValues(board.DeliveryDelivered, board.DeliveryFailed, board.DeliveryGaveUp, board.DeliverySkipped)
	return []check{
		{problem: "delivery %s: its status is unknown", remedy: restoreRemedy,
			query: "SELECT id FROM deliveries WHERE status NOT IN (" + waiting + ", " + ended + ")"},
		{problem: "delivery %s: it is waiting, but no attempt is scheduled",
			query: "SELECT id FROM deliveries WHERE due_at IS NULL AND status IN (" + waiting + ")",
			repair: func(ctx context.Context, tx *store.RawTx, id string) error {
				return tx.Exec(ctx, "UPDATE deliveries SET status = $1, retry = 0, due_at = $2, ended_at = NULL WHERE id = $3 "+
					"AND due_at IS NULL AND status IN ("+waiting+")",
					string(board.DeliveryPending), int64(tx.Now()), id)
			}},
		{problem: "delivery %s: it has ended, but another attempt is scheduled", query: "SELECT id FROM deliveries WHERE due_at IS NOT NULL " +
			"AND status IN (" + ended + ")",
			repair: func(ctx context.Context, tx *store.RawTx, id string) error {
				return tx.Exec(ctx, "UPDATE deliveries SET retry = 0, due_at = NULL, ended_at = COALESCE(ended_at, $1) WHERE id = $2 "+
					"AND status IN ("+ended+")", int64(tx.Now()), id)
			}},
		{problem: "delivery %s: its end time contradicts its status",
			query: "SELECT id FROM deliveries WHERE (due_at IS NULL AND ended_at IS NULL AND status IN (" + ended + ")) OR (due_at IS NOT " +
				"NULL AND ended_at IS NOT NULL AND status IN (" + waiting + "))",
			repair: func(ctx context.Context, tx *store.RawTx, id string) error {
				return tx.Exec(ctx, "UPDATE deliveries SET ended_at = CASE WHEN due_at IS NULL THEN COALESCE(ended_at, $1) END "+
					"WHERE id = $2", int64(tx.Now()), id)
			}},
	}
}

// quotedValues returns an SQL list of constants for IN.
func quotedValues[T ~string](all ...T) string {
	quoted := make([]string, len(all))
	for i, w := range all {
		quoted[i] = "'" + string(w) + "'"
	}
	return strings.Join(quoted, ", ")
}

// leaseAge is longer than any lease, and longer than housekeeping keeps an expired lease.
const leaseAge = 25 * time.Hour

// leaseChecks returns the checks for leases whose holders no longer exist, and for leases
// that block all servers because the holder's clock was wrong.
func leaseChecks(now time.Time) []check {
	past, future := int64(board.InstantOf(now.Add(-leaseAge))), int64(board.InstantOf(now.Add(leaseAge)))
	remove := func(ctx context.Context, tx *store.RawTx, name string) error {
		return tx.Exec(ctx, "DELETE FROM leases WHERE name = $1 AND (until < $2 OR until > $3)", name, past, future)
	}
	return []check{
		{problem: "lease %s: it expired more than a day ago",
			query: fmt.Sprintf("SELECT name FROM leases WHERE until < %d", past), repair: remove},
		{problem: "lease %s: it expires more than a day from now", query: fmt.Sprintf("SELECT name FROM leases WHERE until > %d",
			future), repair: remove},
		{problem: "board %s: the lease for its rules expires more than a day from now",
			query: fmt.Sprintf("SELECT board_id FROM automation_boards WHERE until > %d", future),
			repair: func(ctx context.Context, tx *store.RawTx, id string) error {
				return tx.Exec(ctx, "UPDATE automation_boards SET holder = '', until = 0 WHERE board_id = $1 AND until > $2", id, future)
			}},
	}
}

// sealChecks returns the check for secrets that no key of this server can decrypt.
func sealChecks() []check {
	return []check{{
		problem: "secret of %s: no key of this server can decrypt it",
		remedy: "add the earlier key to CARDWALL_SECRET_KEY (NEW,OLD); if that key is lost, create the webhook or public page again; " +
			"stored responses expire after 24 hours",
		find: func(ctx context.Context, v *store.RawView, report func(string) bool) error {
			if v.Keys() == nil {
				return nil
			}
			for _, readPage := range sealedPageReaders() {
				cursor := []any{"", ""}
				for cursor != nil {
					var (
						values []sealedValue
						err    error
					)
					if values, cursor, err = readPage(ctx, v, cursor); err != nil {
						return err
					}
					for _, s := range values {
						if _, err := v.Keys().Open(s.sealContext, s.sealed); err != nil && !report(s.sealContext) {
							return nil
						}
					}
				}
			}
			return nil
		},
	}}
}

// missingPicture returns the check for rows whose column has the version of a picture that is not
// stored. The repair clears the column, so that pages do not request the picture.
func missingPicture(table, column, pictures string) check {
	missing := "o." + column + " IS NOT NULL AND NOT EXISTS (SELECT 1 FROM " + pictures + ")"
	return check{
		problem: strings.TrimSuffix(table, "s") + " %s: its picture is missing",
		query:   "SELECT o.id FROM " + table + " o WHERE " + missing,
		repair: func(ctx context.Context, tx *store.RawTx, id string) error {
			return tx.Exec(ctx, "UPDATE "+table+" AS o SET "+column+" = NULL WHERE o.id = $1 AND "+missing, id)
		},
	}
}
