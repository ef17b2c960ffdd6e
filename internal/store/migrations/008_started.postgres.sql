-- +goose Up
-- The open cards of a board, by start. Cards that overlap a range of days are found in
-- two indexes: cards_span finds those that end in the range, this one finds those that
-- begin before its end.
CREATE INDEX cards_started ON cards (board_id, start_date, due_date, list_id) WHERE archived_at IS NULL AND start_date IS NOT NULL;
