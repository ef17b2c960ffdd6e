-- +goose Up
-- A person's relation to a board: whether it is starred, and when the person last had
-- it open. A person who was seen within the last half minute is viewing it now.
CREATE TABLE board_visits (
    user_id  TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    board_id TEXT COLLATE "C" NOT NULL REFERENCES boards (id) ON DELETE CASCADE,
    starred  BIGINT NOT NULL DEFAULT 0,
    seen_at  BIGINT,
    PRIMARY KEY (user_id, board_id)
);
CREATE INDEX board_visits_board ON board_visits (board_id, seen_at);

-- The browser tab that caused a change, so that it recognizes its own changes in the
-- stream.
ALTER TABLE activity ADD COLUMN client TEXT COLLATE "C";
