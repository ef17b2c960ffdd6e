-- +goose Up
SET LOCAL lock_timeout = '10s';
-- Deleted cards and lists stay in the database for 30 days. A list with trashed_at is hidden
-- together with its cards. It is a deleted list or, with 0, the list that holds the deleted
-- cards of its board. Servers of the version before show both as archived.
ALTER TABLE lists ADD COLUMN trashed_at BIGINT;

-- The cards and lists in the trash, by their ids. from_id is the list that a card was in.
CREATE TABLE trash (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    board_id   TEXT COLLATE "C" NOT NULL REFERENCES boards (id) ON DELETE CASCADE,
    from_id    TEXT COLLATE "C",
    trashed_by TEXT COLLATE "C" REFERENCES users (id),
    trashed_at BIGINT NOT NULL
);
CREATE INDEX trash_board ON trash (board_id, trashed_at, id);
CREATE INDEX trash_trashed ON trash (trashed_at);
CREATE INDEX trash_trashed_by ON trash (trashed_by);
