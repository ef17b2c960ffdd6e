-- +goose Up
SET LOCAL lock_timeout = '10s';
-- Files that are received in parts. received counts the bytes in the parts; it is the size once
-- the file is attached. The parts are blobs. An upload expires a day after it was created.
CREATE TABLE uploads (
    id              TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    card_id         TEXT COLLATE "C" NOT NULL REFERENCES cards (id) ON DELETE CASCADE,
    organization_id TEXT COLLATE "C" NOT NULL,
    name            TEXT COLLATE "C" NOT NULL,
    size            BIGINT NOT NULL,
    received        BIGINT NOT NULL,
    attachment_id   TEXT COLLATE "C",
    created_at      BIGINT NOT NULL
);
CREATE INDEX uploads_card ON uploads (card_id);
CREATE INDEX uploads_organization ON uploads (organization_id, created_at);
CREATE INDEX uploads_created ON uploads (created_at);

CREATE TABLE upload_parts (
    upload_id TEXT COLLATE "C" NOT NULL REFERENCES uploads (id) ON DELETE CASCADE,
    start     BIGINT NOT NULL,
    size      BIGINT NOT NULL,
    blob      TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (upload_id, start)
);
