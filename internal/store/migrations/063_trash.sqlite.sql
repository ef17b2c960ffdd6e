-- +goose Up
-- Deleted cards and lists stay in the database for 30 days. A list with trashed_at is hidden
-- together with its cards. It is a deleted list or, with 0, the list that holds the deleted
-- cards of its board.
ALTER TABLE lists ADD COLUMN trashed_at INTEGER;

-- The cards and lists in the trash, by their ids. from_id is the list that a card was in.
CREATE TABLE trash (
    id         TEXT NOT NULL PRIMARY KEY,
    board_id   TEXT NOT NULL REFERENCES boards (id) ON DELETE CASCADE,
    from_id    TEXT,
    trashed_by TEXT REFERENCES users (id),
    trashed_at INTEGER NOT NULL
) STRICT;
CREATE INDEX trash_board ON trash (board_id, trashed_at, id);
CREATE INDEX trash_trashed ON trash (trashed_at);
CREATE INDEX trash_trashed_by ON trash (trashed_by);
