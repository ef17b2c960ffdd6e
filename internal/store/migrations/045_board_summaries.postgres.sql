-- +goose Up
SET LOCAL lock_timeout = '10s';

-- What reports count on a board, at one version of the board; see store/summary.go. A
-- summary of an earlier version is not used. Servers write summaries for large
-- workspaces in the background, so the migration adds none.
CREATE TABLE board_summaries (
    board_id   TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES boards (id) ON DELETE CASCADE,
    version    BIGINT NOT NULL,
    format     BIGINT NOT NULL,
    counted_at BIGINT NOT NULL,
    unplanned  BIGINT NOT NULL,
    people     BYTEA NOT NULL,
    counts     BYTEA NOT NULL
);
-- A report may read a thousand summaries. Compression would take more time than it
-- saves.
ALTER TABLE board_summaries ALTER COLUMN counts SET STORAGE EXTERNAL, ALTER COLUMN people SET STORAGE EXTERNAL;
