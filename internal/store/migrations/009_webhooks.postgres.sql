-- +goose Up
-- A webhook sends the events of one board or, without board_id, of every board that the
-- whole workspace can see. Addresses and secrets are encrypted.
CREATE TABLE webhooks (
    id               TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    organization_id  TEXT COLLATE "C" NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    workspace_id     TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    board_id         TEXT COLLATE "C" REFERENCES boards (id) ON DELETE CASCADE,
    owner_id         TEXT COLLATE "C" NOT NULL REFERENCES users (id),
    name             TEXT COLLATE "C" NOT NULL,
    events           TEXT COLLATE "C" NOT NULL,
    platform         TEXT COLLATE "C" NOT NULL,
    host             TEXT COLLATE "C" NOT NULL,
    last_four        TEXT COLLATE "C" NOT NULL,
    address          BYTEA NOT NULL,
    secret           BYTEA NOT NULL,
    old_secret       BYTEA,
    old_secret_until BIGINT,
    off              TEXT COLLATE "C" NOT NULL,
    off_at           BIGINT,
    failures         BIGINT NOT NULL DEFAULT 0,
    held_since       BIGINT,
    created_at       BIGINT NOT NULL,
    updated_at       BIGINT NOT NULL
);
CREATE INDEX webhooks_workspace ON webhooks (workspace_id, id);
CREATE INDEX webhooks_board ON webhooks (board_id);
CREATE INDEX webhooks_covers ON webhooks (workspace_id, board_id, id);
CREATE INDEX webhooks_organization ON webhooks (organization_id);
CREATE INDEX webhooks_owner ON webhooks (owner_id);

-- The outbox: deliveries, written in the transaction of the change. A delivery is open
-- as long as due_at has the time of its next attempt. It has no foreign key to its
-- webhook, so that deleting a webhook cannot make a change to a card fail.
CREATE TABLE deliveries (
    id           TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    webhook_id   TEXT COLLATE "C" NOT NULL,
    board_id     TEXT COLLATE "C",
    version      BIGINT NOT NULL,
    kind         TEXT COLLATE "C" NOT NULL,
    status       TEXT COLLATE "C" NOT NULL,
    retry        BIGINT NOT NULL DEFAULT 0,
    due_at       BIGINT,
    attempts     BIGINT NOT NULL DEFAULT 0,
    switches_on  TEXT COLLATE "C",
    reason       TEXT COLLATE "C" NOT NULL,
    http_status  BIGINT,
    created_at   BIGINT NOT NULL,
    ended_at     BIGINT,
    log          TEXT COLLATE "C" NOT NULL,
    body         TEXT COLLATE "C" NOT NULL
);
CREATE INDEX deliveries_webhook ON deliveries (webhook_id, id);
CREATE INDEX deliveries_open ON deliveries (webhook_id, retry, due_at) WHERE due_at IS NOT NULL;

-- Number of deliveries of an organization per day (UTC).
CREATE TABLE delivery_days (
    organization_id TEXT COLLATE "C" NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    day             TEXT COLLATE "C" NOT NULL,
    used            BIGINT NOT NULL,
    PRIMARY KEY (organization_id, day)
);

-- Responses that contain a secret are encrypted.
ALTER TABLE idempotency ADD COLUMN sealed BIGINT NOT NULL DEFAULT 0;

DROP TABLE events;
