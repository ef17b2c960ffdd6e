-- +goose Up
SET LOCAL lock_timeout = '10s';

-- Blobs that the storage for files contains, or that are about to be stored there. A row
-- exists before its blob and is deleted after it. A row without attachments is kept for a
-- day. While removing_at is set, the blob is being removed and must not be used.
CREATE TABLE blobs (
    organization_id TEXT COLLATE "C" NOT NULL,
    hash            TEXT COLLATE "C" NOT NULL,
    size            BIGINT NOT NULL,
    stored_at       BIGINT NOT NULL,
    removing_at     BIGINT,
    PRIMARY KEY (organization_id, hash)
);
CREATE INDEX blobs_stored ON blobs (stored_at);

-- Files and links on cards. A file has the organization_id and hash of its blob; the
-- organization is the one in which it was uploaded, even after its card has moved. A
-- removed attachment is kept for a day, so that it can be restored.
CREATE TABLE attachments (
    id              TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    card_id         TEXT COLLATE "C" NOT NULL REFERENCES cards (id) ON DELETE CASCADE,
    name            TEXT COLLATE "C" NOT NULL,
    url             TEXT COLLATE "C",
    organization_id TEXT COLLATE "C",
    hash            TEXT COLLATE "C",
    media_type      TEXT COLLATE "C",
    size            BIGINT NOT NULL,
    width           BIGINT,
    height          BIGINT,
    created_by      TEXT COLLATE "C",
    created_at      BIGINT NOT NULL,
    updated_at      BIGINT NOT NULL,
    removed_at      BIGINT
);
CREATE INDEX attachments_card ON attachments (card_id, id);
CREATE INDEX attachments_blob ON attachments (organization_id, hash);
CREATE INDEX attachments_removed ON attachments (removed_at) WHERE removed_at IS NOT NULL;

-- The number of attachments of a card, and the picture on its tile.
ALTER TABLE cards ADD COLUMN attachments BIGINT NOT NULL DEFAULT 0;
ALTER TABLE cards ADD COLUMN cover_id TEXT COLLATE "C";
ALTER TABLE cards ADD COLUMN cover_width BIGINT;
ALTER TABLE cards ADD COLUMN cover_height BIGINT;
