-- +goose Up
-- What a board shows to people without an account. Its page is found by the
-- fingerprint of its key; the key itself is sealed, so that the board's admins
-- can copy its address again. Lists are ids with commas between.
CREATE TABLE public_pages (
    board_id   TEXT NOT NULL PRIMARY KEY REFERENCES boards (id) ON DELETE CASCADE,
    hash       BLOB NOT NULL,
    secret     BLOB NOT NULL,
    mode       TEXT NOT NULL,
    list_id    TEXT,
    all_lists  INTEGER NOT NULL,
    lists      TEXT NOT NULL,
    comments   INTEGER NOT NULL,
    names      INTEGER NOT NULL,
    welcome    TEXT NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX public_pages_hash ON public_pages (hash);

-- The name that a guest of a public page gave; NULL where the author is none.
ALTER TABLE comments ADD COLUMN guest_name TEXT;
