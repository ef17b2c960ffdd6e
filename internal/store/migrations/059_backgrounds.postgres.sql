-- +goose Up
SET LOCAL lock_timeout = '10s';

-- Pictures behind the lists of boards. background is the version of the picture that is shown; NULL
-- if there is none. Some pictures that a board had before are kept, so that they can be shown again.
-- used_at is when the picture was last chosen.
ALTER TABLE boards ADD COLUMN background TEXT COLLATE "C";

CREATE TABLE backgrounds (
    board_id   TEXT COLLATE "C" NOT NULL REFERENCES boards (id) ON DELETE CASCADE,
    version    TEXT COLLATE "C" NOT NULL,
    media_type TEXT COLLATE "C" NOT NULL,
    picture    BYTEA NOT NULL,
    used_at    BIGINT NOT NULL,
    PRIMARY KEY (board_id, version)
);
