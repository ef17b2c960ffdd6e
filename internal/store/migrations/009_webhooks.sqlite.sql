-- +goose Up
-- A webhook sends the events of one board or, without board_id, of every board that the
-- whole workspace can see. Addresses and secrets are encrypted.
CREATE TABLE webhooks (
    id               TEXT NOT NULL PRIMARY KEY,
    organization_id  TEXT NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    workspace_id     TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    board_id         TEXT REFERENCES boards (id) ON DELETE CASCADE,
    owner_id         TEXT NOT NULL REFERENCES users (id),
    name             TEXT NOT NULL,
    events           TEXT NOT NULL,
    platform         TEXT NOT NULL,
    host             TEXT NOT NULL,
    last_four        TEXT NOT NULL,
    address          BLOB NOT NULL,
    secret           BLOB NOT NULL,
    old_secret       BLOB,
    old_secret_until INTEGER,
    off              TEXT NOT NULL,
    off_at           INTEGER,
    failures         INTEGER NOT NULL DEFAULT 0,
    held_since       INTEGER,
    created_at       INTEGER NOT NULL,
    updated_at       INTEGER NOT NULL
) STRICT;
CREATE INDEX webhooks_workspace ON webhooks (workspace_id, id);
CREATE INDEX webhooks_board ON webhooks (board_id);
CREATE INDEX webhooks_covers ON webhooks (workspace_id, board_id, id);
CREATE INDEX webhooks_organization ON webhooks (organization_id);
CREATE INDEX webhooks_owner ON webhooks (owner_id);

-- The outbox: deliveries, written in the transaction of the change. A delivery is open
-- as long as due_at has the time of its next attempt. It has no foreign key to its
-- webhook, so that deleting a webhook cannot make a change to a card fail.
CREATE TABLE deliveries (
    id           TEXT NOT NULL PRIMARY KEY,
    webhook_id   TEXT NOT NULL,
    board_id     TEXT,
    version      INTEGER NOT NULL,
    kind         TEXT NOT NULL,
    status       TEXT NOT NULL,
    retry        INTEGER NOT NULL DEFAULT 0,
    due_at       INTEGER,
    attempts     INTEGER NOT NULL DEFAULT 0,
    switches_on  TEXT,
    reason       TEXT NOT NULL,
    http_status  INTEGER,
    created_at   INTEGER NOT NULL,
    ended_at     INTEGER,
    log          TEXT NOT NULL,
    body         TEXT NOT NULL
) STRICT;
CREATE INDEX deliveries_webhook ON deliveries (webhook_id, id);
CREATE INDEX deliveries_open ON deliveries (webhook_id, retry, due_at) WHERE due_at IS NOT NULL;

-- Number of deliveries of an organization per day (UTC).
CREATE TABLE delivery_days (
    organization_id TEXT NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    day             TEXT NOT NULL,
    used            INTEGER NOT NULL,
    PRIMARY KEY (organization_id, day)
) STRICT;

-- Responses that contain a secret are encrypted.
ALTER TABLE idempotency ADD COLUMN sealed INTEGER NOT NULL DEFAULT 0;

DROP TABLE events;
