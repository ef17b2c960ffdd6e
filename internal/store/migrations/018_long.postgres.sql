-- +goose Up
-- The open cards of a board that touch three calendar months or more. A card that
-- overlaps a date range, ends after it and is not in this index began in the last month
-- of the range or in the month before. So a calendar need not read all cards that begin
-- before its range or end after it.
CREATE INDEX cards_long ON cards (board_id, start_date, due_date) WHERE archived_at IS NULL
	AND 12 * CAST(substr(due_date, 1, 4) AS INTEGER) + CAST(substr(due_date, 6, 2) AS INTEGER)
		- 12 * CAST(substr(start_date, 1, 4) AS INTEGER) - CAST(substr(start_date, 6, 2) AS INTEGER) > 1;
