-- +goose Up
CREATE TABLE settings (
    key        TEXT NOT NULL PRIMARY KEY,
    value      TEXT NOT NULL
) STRICT;

CREATE TABLE organizations (
    id         TEXT NOT NULL PRIMARY KEY,
    name       TEXT NOT NULL,
    plan       TEXT NOT NULL,
    read_only  INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE users (
    id            TEXT NOT NULL PRIMARY KEY,
    email         TEXT,
    name          TEXT NOT NULL,
    password_hash TEXT,
    time_zone     TEXT NOT NULL,
    created_at    INTEGER NOT NULL,
    deleted_at    INTEGER
) STRICT;
CREATE UNIQUE INDEX users_email ON users (email);

CREATE TABLE workspaces (
    id              TEXT NOT NULL PRIMARY KEY,
    organization_id TEXT NOT NULL REFERENCES organizations (id),
    name            TEXT NOT NULL,
    created_at      INTEGER NOT NULL
) STRICT;
CREATE INDEX workspaces_organization ON workspaces (organization_id);

CREATE TABLE workspace_members (
    workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    user_id      TEXT NOT NULL REFERENCES users (id),
    role         TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, user_id)
) STRICT;
CREATE INDEX workspace_members_user ON workspace_members (user_id);

CREATE TABLE tokens (
    id           TEXT NOT NULL PRIMARY KEY,
    user_id      TEXT NOT NULL REFERENCES users (id),
    name         TEXT NOT NULL,
    hash         BLOB NOT NULL,
    last_four    TEXT NOT NULL,
    scopes       TEXT NOT NULL,
    workspace_id TEXT REFERENCES workspaces (id) ON DELETE CASCADE,
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER,
    revoked_at   INTEGER,
    last_used_at INTEGER
) STRICT;
CREATE UNIQUE INDEX tokens_hash ON tokens (hash);
CREATE INDEX tokens_user ON tokens (user_id);
CREATE INDEX tokens_workspace ON tokens (workspace_id);

CREATE TABLE boards (
    id           TEXT NOT NULL PRIMARY KEY,
    workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    name         TEXT NOT NULL,
    visibility   TEXT NOT NULL,
    features     INTEGER NOT NULL,
    version      INTEGER NOT NULL,
    next_number  INTEGER NOT NULL DEFAULT 1,
    open_cards   INTEGER NOT NULL DEFAULT 0,
    all_cards    INTEGER NOT NULL DEFAULT 0,
    open_lists   INTEGER NOT NULL DEFAULT 0,
    archived_at  INTEGER,
    trashed_at   INTEGER,
    created_by   TEXT REFERENCES users (id),
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL,
    description  TEXT NOT NULL
) STRICT;
CREATE INDEX boards_workspace ON boards (workspace_id);

CREATE TABLE board_members (
    board_id   TEXT NOT NULL REFERENCES boards (id) ON DELETE CASCADE,
    user_id    TEXT NOT NULL REFERENCES users (id),
    role       TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (board_id, user_id)
) STRICT;
CREATE INDEX board_members_user ON board_members (user_id);

CREATE TABLE lists (
    id          TEXT NOT NULL PRIMARY KEY,
    board_id    TEXT NOT NULL REFERENCES boards (id) ON DELETE CASCADE,
    name        TEXT NOT NULL,
    rank        TEXT NOT NULL,
    wip_limit   INTEGER,
    wip_mode    TEXT NOT NULL,
    archived_at INTEGER,
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX lists_rank ON lists (board_id, rank);

CREATE TABLE labels (
    id         TEXT NOT NULL PRIMARY KEY,
    board_id   TEXT NOT NULL REFERENCES boards (id) ON DELETE CASCADE,
    name       TEXT NOT NULL,
    color      TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX labels_board ON labels (board_id, name, id);

CREATE TABLE cards (
    id          TEXT NOT NULL PRIMARY KEY,
    board_id    TEXT NOT NULL REFERENCES boards (id) ON DELETE CASCADE,
    list_id     TEXT NOT NULL REFERENCES lists (id) ON DELETE CASCADE,
    rank        TEXT NOT NULL,
    number      INTEGER NOT NULL,
    title       TEXT NOT NULL,
    done_at     INTEGER,
    archived_at INTEGER,
    due_date    TEXT,
    due_at      INTEGER,
    start_date  TEXT,
    start_at    INTEGER,
    time_zone   TEXT,
    items_done  INTEGER NOT NULL DEFAULT 0,
    items_total INTEGER NOT NULL DEFAULT 0,
    comments    INTEGER NOT NULL DEFAULT 0,
    created_by  TEXT REFERENCES users (id),
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL,
    description TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX cards_rank ON cards (list_id, rank);
CREATE UNIQUE INDEX cards_number ON cards (board_id, number);

CREATE TABLE card_labels (
    card_id  TEXT NOT NULL REFERENCES cards (id) ON DELETE CASCADE,
    label_id TEXT NOT NULL REFERENCES labels (id) ON DELETE CASCADE,
    PRIMARY KEY (card_id, label_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX card_labels_label ON card_labels (label_id, card_id);

CREATE TABLE card_assignees (
    card_id     TEXT NOT NULL REFERENCES cards (id) ON DELETE CASCADE,
    user_id     TEXT NOT NULL REFERENCES users (id),
    assigned_at INTEGER NOT NULL,
    PRIMARY KEY (card_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX card_assignees_user ON card_assignees (user_id, card_id);

CREATE TABLE checklists (
    id         TEXT NOT NULL PRIMARY KEY,
    card_id    TEXT NOT NULL REFERENCES cards (id) ON DELETE CASCADE,
    title      TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX checklists_card ON checklists (card_id, id);

CREATE TABLE checklist_items (
    id           TEXT NOT NULL PRIMARY KEY,
    checklist_id TEXT NOT NULL REFERENCES checklists (id) ON DELETE CASCADE,
    title        TEXT NOT NULL,
    rank         TEXT NOT NULL,
    done_at      INTEGER,
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX checklist_items_rank ON checklist_items (checklist_id, rank);

CREATE TABLE comments (
    id         TEXT NOT NULL PRIMARY KEY,
    card_id    TEXT NOT NULL REFERENCES cards (id) ON DELETE CASCADE,
    author_id  TEXT REFERENCES users (id),
    created_at INTEGER NOT NULL,
    edited_at  INTEGER,
    text       TEXT NOT NULL
) STRICT;
CREATE INDEX comments_card ON comments (card_id, id);

-- Old and new ranks of siblings that were ranked again, so that older cursors can be
-- translated.
CREATE TABLE reranks (
    parent_id TEXT NOT NULL,
    epoch     INTEGER NOT NULL,
    old_rank  TEXT NOT NULL,
    new_rank  TEXT NOT NULL,
    at        INTEGER NOT NULL,
    PRIMARY KEY (parent_id, epoch, old_rank)
) STRICT, WITHOUT ROWID;

-- One row for each change of a board: (board_id, version) has no gaps.
CREATE TABLE activity (
    board_id   TEXT NOT NULL REFERENCES boards (id) ON DELETE CASCADE,
    version    INTEGER NOT NULL,
    id         TEXT NOT NULL,
    type       TEXT NOT NULL,
    at         INTEGER NOT NULL,
    actor_type TEXT NOT NULL,
    actor_id   TEXT,
    list_id    TEXT,
    card_id    TEXT,
    changes    TEXT NOT NULL,
    PRIMARY KEY (board_id, version)
) STRICT;
CREATE INDEX activity_card ON activity (card_id, version);

-- The outbox: events for webhooks, written in the transaction of the change.
CREATE TABLE events (
    id           TEXT NOT NULL PRIMARY KEY,
    workspace_id TEXT NOT NULL,
    board_id     TEXT NOT NULL,
    version      INTEGER NOT NULL,
    kind         TEXT NOT NULL,
    occurred_at  INTEGER NOT NULL,
    actor_type   TEXT NOT NULL,
    actor_id     TEXT,
    card_id      TEXT,
    data         TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX events_version ON events (board_id, version);

-- The audit log: who called which operation, and with which token.
CREATE TABLE audit (
    id           TEXT NOT NULL PRIMARY KEY,
    at           INTEGER NOT NULL,
    workspace_id TEXT,
    board_id     TEXT,
    operation    TEXT NOT NULL,
    actor_type   TEXT NOT NULL,
    actor_id     TEXT,
    token_id     TEXT,
    subject      TEXT,
    request_id   TEXT,
    details      TEXT NOT NULL
) STRICT;
CREATE INDEX audit_workspace ON audit (workspace_id, id);

-- The response to the first request with an idempotency key, kept for 24 hours.
CREATE TABLE idempotency (
    user_id      TEXT NOT NULL,
    key          TEXT NOT NULL,
    operation    TEXT NOT NULL,
    fingerprint  BLOB NOT NULL,
    workspace_id TEXT,
    board_id     TEXT,
    fault        TEXT NOT NULL,
    answer       BLOB NOT NULL,
    created_at   INTEGER NOT NULL,
    PRIMARY KEY (user_id, key)
) STRICT;
CREATE INDEX idempotency_age ON idempotency (created_at);
