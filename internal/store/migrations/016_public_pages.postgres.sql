-- +goose Up
-- What a board shows to people without an account. Its page is found by the
-- fingerprint of its key; the key itself is sealed, so that the board's admins
-- can copy its address again. Lists are ids with commas between.
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

-- The name that a guest of a public page gave; NULL where the author is none.
ALTER TABLE comments ADD COLUMN guest_name TEXT COLLATE "C";
