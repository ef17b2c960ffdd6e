-- +goose Up
-- The open cards of a board that span three months or parts of them, and more.
-- What outlasts a window and is not here began in the window's last month or the
-- one before: so a calendar reads neither all that began before nor all that is
-- due after it.
CREATE INDEX cards_long ON cards (board_id, start_date, due_date) WHERE archived_at IS NULL
	AND 12 * CAST(substr(due_date, 1, 4) AS INTEGER) + CAST(substr(due_date, 6, 2) AS INTEGER)
		- 12 * CAST(substr(start_date, 1, 4) AS INTEGER) - CAST(substr(start_date, 6, 2) AS INTEGER) > 1;
