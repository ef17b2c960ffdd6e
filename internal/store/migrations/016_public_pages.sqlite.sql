-- +goose Up
-- Public pages of boards, for people without an account. A page is found by the hash of
-- its key. The key itself is encrypted, so that the board's admins can copy the address
-- later. lists contains ids separated by commas.
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

-- The name that a guest of a public page entered; NULL if the author is not a guest.
ALTER TABLE comments ADD COLUMN guest_name TEXT;
