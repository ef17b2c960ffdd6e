-- +goose Up
-- Blobs that the storage for files contains, or that are about to be stored there. A row
-- exists before its blob and is deleted after it. A row without attachments is kept for a
-- day. While removing_at is set, the blob is being removed and must not be used.
CREATE TABLE blobs (
    organization_id TEXT NOT NULL,
    hash            TEXT NOT NULL,
    size            INTEGER NOT NULL,
    stored_at       INTEGER NOT NULL,
    removing_at     INTEGER,
    PRIMARY KEY (organization_id, hash)
) STRICT;
CREATE INDEX blobs_stored ON blobs (stored_at);

-- Files and links on cards. A file has the organization_id and hash of its blob; the
-- organization is the one in which it was uploaded, even after its card has moved. A
-- removed attachment is kept for a day, so that it can be restored.
CREATE TABLE attachments (
    id              TEXT NOT NULL PRIMARY KEY,
    card_id         TEXT NOT NULL REFERENCES cards (id) ON DELETE CASCADE,
    name            TEXT NOT NULL,
    url             TEXT,
    organization_id TEXT,
    hash            TEXT,
    media_type      TEXT,
    size            INTEGER NOT NULL,
    width           INTEGER,
    height          INTEGER,
    created_by      TEXT,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    removed_at      INTEGER
) STRICT;
CREATE INDEX attachments_card ON attachments (card_id, id);
CREATE INDEX attachments_blob ON attachments (organization_id, hash);
CREATE INDEX attachments_removed ON attachments (removed_at) WHERE removed_at IS NOT NULL;

-- The number of attachments of a card, and the picture on its tile.
ALTER TABLE cards ADD COLUMN attachments INTEGER NOT NULL DEFAULT 0;
ALTER TABLE cards ADD COLUMN cover_id TEXT;
ALTER TABLE cards ADD COLUMN cover_width INTEGER;
ALTER TABLE cards ADD COLUMN cover_height INTEGER;
