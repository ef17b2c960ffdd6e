-- +goose Up
-- What a board is to a person: a favourite, and when the person last had it
-- open. Who has it open now has been seen within half a minute.
CREATE TABLE board_visits (
    user_id  TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    board_id TEXT NOT NULL REFERENCES boards (id) ON DELETE CASCADE,
    starred  INTEGER NOT NULL DEFAULT 0,
    seen_at  INTEGER,
    PRIMARY KEY (user_id, board_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX board_visits_board ON board_visits (board_id, seen_at);

-- The tab of a browser that caused a change, so that it knows its own echo.
ALTER TABLE activity ADD COLUMN client TEXT;
