-- +goose Up
-- The open cards of a board by their start. With cards_span it finds what
-- touches a window of days: what ends in it there, what only begins before its
-- end here.
CREATE INDEX cards_started ON cards (board_id, start_date, due_date, list_id) WHERE archived_at IS NULL AND start_date IS NOT NULL;
