-- +goose Up
-- Public pages of boards, for people without an account. A page is found by the hash of
-- its key. The key itself is encrypted, so that the board's admins can copy the address
-- later. lists contains ids separated by commas.
CREATE TABLE public_pages (
    board_id   TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES boards (id) ON DELETE CASCADE,
    hash       BYTEA NOT NULL,
    secret     BYTEA NOT NULL,
    mode       TEXT COLLATE "C" NOT NULL,
    list_id    TEXT COLLATE "C",
    all_lists  BIGINT NOT NULL,
    lists      TEXT COLLATE "C" NOT NULL,
    comments   BIGINT NOT NULL,
    names      BIGINT NOT NULL,
    welcome    TEXT COLLATE "C" NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX public_pages_hash ON public_pages (hash);

-- The name that a guest of a public page entered; NULL if the author is not a guest.
ALTER TABLE comments ADD COLUMN guest_name TEXT COLLATE "C";
