-- +goose Up
-- Pictures behind the lists of boards. background is the version of the picture that is shown; NULL
-- if there is none. Some pictures that a board had before are kept, so that they can be shown again.
-- used_at is when the picture was last chosen.
ALTER TABLE boards ADD COLUMN background TEXT;

CREATE TABLE backgrounds (
    board_id   TEXT NOT NULL REFERENCES boards (id) ON DELETE CASCADE,
    version    TEXT NOT NULL,
    media_type TEXT NOT NULL,
    picture    BLOB NOT NULL,
    used_at    INTEGER NOT NULL,
    PRIMARY KEY (board_id, version)
) STRICT;
