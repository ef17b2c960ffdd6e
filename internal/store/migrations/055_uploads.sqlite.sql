-- +goose Up
-- Files that are received in parts. received counts the bytes in the parts; it is the size once
-- the file is attached. The parts are blobs. An upload expires a day after it was created.
CREATE TABLE uploads (
    id              TEXT NOT NULL PRIMARY KEY,
    card_id         TEXT NOT NULL REFERENCES cards (id) ON DELETE CASCADE,
    organization_id TEXT NOT NULL,
    name            TEXT NOT NULL,
    size            INTEGER NOT NULL,
    received        INTEGER NOT NULL,
    attachment_id   TEXT,
    created_at      INTEGER NOT NULL
) STRICT;
CREATE INDEX uploads_card ON uploads (card_id);
CREATE INDEX uploads_organization ON uploads (organization_id, created_at);
CREATE INDEX uploads_created ON uploads (created_at);

CREATE TABLE upload_parts (
    upload_id TEXT NOT NULL REFERENCES uploads (id) ON DELETE CASCADE,
    start     INTEGER NOT NULL,
    size      INTEGER NOT NULL,
    blob      TEXT NOT NULL,
    PRIMARY KEY (upload_id, start)
) STRICT, WITHOUT ROWID;
