-- +goose Up
-- What reports count on a board, at one version of the board; see store/summary.go. A
-- summary of an earlier version is not used. Servers write summaries for large
-- workspaces in the background, so the migration adds none.
CREATE TABLE board_summaries (
    board_id   TEXT NOT NULL PRIMARY KEY REFERENCES boards (id) ON DELETE CASCADE,
    version    INTEGER NOT NULL,
    format     INTEGER NOT NULL,
    counted_at INTEGER NOT NULL,
    unplanned  INTEGER NOT NULL,
    people     BLOB NOT NULL,
    counts     BLOB NOT NULL
) STRICT;
