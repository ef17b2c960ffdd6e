-- +goose Up
CREATE TABLE settings (
    key        TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    value      TEXT COLLATE "C" NOT NULL
);

CREATE TABLE organizations (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    name       TEXT COLLATE "C" NOT NULL,
    plan       TEXT COLLATE "C" NOT NULL,
    read_only  BIGINT NOT NULL DEFAULT 0,
    created_at BIGINT NOT NULL
);

CREATE TABLE users (
    id            TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    email         TEXT COLLATE "C",
    name          TEXT COLLATE "C" NOT NULL,
    password_hash TEXT COLLATE "C",
    time_zone     TEXT COLLATE "C" NOT NULL,
    created_at    BIGINT NOT NULL,
    deleted_at    BIGINT
);
CREATE UNIQUE INDEX users_email ON users (email);

CREATE TABLE workspaces (
    id              TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    organization_id TEXT COLLATE "C" NOT NULL REFERENCES organizations (id),
    name            TEXT COLLATE "C" NOT NULL,
    created_at      BIGINT NOT NULL
);
CREATE INDEX workspaces_organization ON workspaces (organization_id);

CREATE TABLE workspace_members (
    workspace_id TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    user_id      TEXT COLLATE "C" NOT NULL REFERENCES users (id),
    role         TEXT COLLATE "C" NOT NULL,
    created_at   BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, user_id)
);
CREATE INDEX workspace_members_user ON workspace_members (user_id);

CREATE TABLE tokens (
    id           TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    user_id      TEXT COLLATE "C" NOT NULL REFERENCES users (id),
    name         TEXT COLLATE "C" NOT NULL,
    hash         BYTEA NOT NULL,
    last_four    TEXT COLLATE "C" NOT NULL,
    scopes       TEXT COLLATE "C" NOT NULL,
    workspace_id TEXT COLLATE "C" REFERENCES workspaces (id) ON DELETE CASCADE,
    created_at   BIGINT NOT NULL,
    expires_at   BIGINT,
    revoked_at   BIGINT,
    last_used_at BIGINT
);
CREATE UNIQUE INDEX tokens_hash ON tokens (hash);
CREATE INDEX tokens_user ON tokens (user_id);
CREATE INDEX tokens_workspace ON tokens (workspace_id);

CREATE TABLE boards (
    id           TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    workspace_id TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    name         TEXT COLLATE "C" NOT NULL,
    visibility   TEXT COLLATE "C" NOT NULL,
    features     BIGINT NOT NULL,
    version      BIGINT NOT NULL,
    next_number  BIGINT NOT NULL DEFAULT 1,
    open_cards   BIGINT NOT NULL DEFAULT 0,
    all_cards    BIGINT NOT NULL DEFAULT 0,
    open_lists   BIGINT NOT NULL DEFAULT 0,
    archived_at  BIGINT,
    trashed_at   BIGINT,
    created_by   TEXT COLLATE "C" REFERENCES users (id),
    created_at   BIGINT NOT NULL,
    updated_at   BIGINT NOT NULL,
    description  TEXT COLLATE "C" NOT NULL
);
CREATE INDEX boards_workspace ON boards (workspace_id);

CREATE TABLE board_members (
    board_id   TEXT COLLATE "C" NOT NULL REFERENCES boards (id) ON DELETE CASCADE,
    user_id    TEXT COLLATE "C" NOT NULL REFERENCES users (id),
    role       TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (board_id, user_id)
);
CREATE INDEX board_members_user ON board_members (user_id);

CREATE TABLE lists (
    id          TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    board_id    TEXT COLLATE "C" NOT NULL REFERENCES boards (id) ON DELETE CASCADE,
    name        TEXT COLLATE "C" NOT NULL,
    rank        TEXT COLLATE "C" NOT NULL,
    wip_limit   BIGINT,
    wip_mode    TEXT COLLATE "C" NOT NULL,
    archived_at BIGINT,
    created_at  BIGINT NOT NULL,
    updated_at  BIGINT NOT NULL
);
CREATE UNIQUE INDEX lists_rank ON lists (board_id, rank);

CREATE TABLE labels (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    board_id   TEXT COLLATE "C" NOT NULL REFERENCES boards (id) ON DELETE CASCADE,
    name       TEXT COLLATE "C" NOT NULL,
    color      TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX labels_board ON labels (board_id, name, id);

CREATE TABLE cards (
    id          TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    board_id    TEXT COLLATE "C" NOT NULL REFERENCES boards (id) ON DELETE CASCADE,
    list_id     TEXT COLLATE "C" NOT NULL REFERENCES lists (id) ON DELETE CASCADE,
    rank        TEXT COLLATE "C" NOT NULL,
    number      BIGINT NOT NULL,
    title       TEXT COLLATE "C" NOT NULL,
    done_at     BIGINT,
    archived_at BIGINT,
    due_date    TEXT COLLATE "C",
    due_at      BIGINT,
    start_date  TEXT COLLATE "C",
    start_at    BIGINT,
    time_zone   TEXT COLLATE "C",
    items_done  BIGINT NOT NULL DEFAULT 0,
    items_total BIGINT NOT NULL DEFAULT 0,
    comments    BIGINT NOT NULL DEFAULT 0,
    created_by  TEXT COLLATE "C" REFERENCES users (id),
    created_at  BIGINT NOT NULL,
    updated_at  BIGINT NOT NULL,
    description TEXT COLLATE "C" NOT NULL
);
CREATE UNIQUE INDEX cards_rank ON cards (list_id, rank);
CREATE UNIQUE INDEX cards_number ON cards (board_id, number);

CREATE TABLE card_labels (
    card_id  TEXT COLLATE "C" NOT NULL REFERENCES cards (id) ON DELETE CASCADE,
    label_id TEXT COLLATE "C" NOT NULL REFERENCES labels (id) ON DELETE CASCADE,
    PRIMARY KEY (card_id, label_id)
);
CREATE INDEX card_labels_label ON card_labels (label_id, card_id);

CREATE TABLE card_assignees (
    card_id     TEXT COLLATE "C" NOT NULL REFERENCES cards (id) ON DELETE CASCADE,
    user_id     TEXT COLLATE "C" NOT NULL REFERENCES users (id),
    assigned_at BIGINT NOT NULL,
    PRIMARY KEY (card_id, user_id)
);
CREATE INDEX card_assignees_user ON card_assignees (user_id, card_id);

CREATE TABLE checklists (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    card_id    TEXT COLLATE "C" NOT NULL REFERENCES cards (id) ON DELETE CASCADE,
    title      TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX checklists_card ON checklists (card_id, id);

CREATE TABLE checklist_items (
    id           TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    checklist_id TEXT COLLATE "C" NOT NULL REFERENCES checklists (id) ON DELETE CASCADE,
    title        TEXT COLLATE "C" NOT NULL,
    rank         TEXT COLLATE "C" NOT NULL,
    done_at      BIGINT,
    created_at   BIGINT NOT NULL,
    updated_at   BIGINT NOT NULL
);
CREATE UNIQUE INDEX checklist_items_rank ON checklist_items (checklist_id, rank);

CREATE TABLE comments (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    card_id    TEXT COLLATE "C" NOT NULL REFERENCES cards (id) ON DELETE CASCADE,
    author_id  TEXT COLLATE "C" REFERENCES users (id),
    created_at BIGINT NOT NULL,
    edited_at  BIGINT,
    text       TEXT COLLATE "C" NOT NULL
);
CREATE INDEX comments_card ON comments (card_id, id);

-- Old and new ranks of siblings that were ranked again, so that older cursors can be
-- translated.
CREATE TABLE reranks (
    parent_id TEXT COLLATE "C" NOT NULL,
    epoch     BIGINT NOT NULL,
    old_rank  TEXT COLLATE "C" NOT NULL,
    new_rank  TEXT COLLATE "C" NOT NULL,
    at        BIGINT NOT NULL,
    PRIMARY KEY (parent_id, epoch, old_rank)
);

-- One row for each change of a board: (board_id, version) has no gaps.
CREATE TABLE activity (
    board_id   TEXT COLLATE "C" NOT NULL REFERENCES boards (id) ON DELETE CASCADE,
    version    BIGINT NOT NULL,
    id         TEXT COLLATE "C" NOT NULL,
    type       TEXT COLLATE "C" NOT NULL,
    at         BIGINT NOT NULL,
    actor_type TEXT COLLATE "C" NOT NULL,
    actor_id   TEXT COLLATE "C",
    list_id    TEXT COLLATE "C",
    card_id    TEXT COLLATE "C",
    changes    TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (board_id, version)
);
CREATE INDEX activity_card ON activity (card_id, version);

-- The outbox: events for webhooks, written in the transaction of the change.
CREATE TABLE events (
    id           TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    workspace_id TEXT COLLATE "C" NOT NULL,
    board_id     TEXT COLLATE "C" NOT NULL,
    version      BIGINT NOT NULL,
    kind         TEXT COLLATE "C" NOT NULL,
    occurred_at  BIGINT NOT NULL,
    actor_type   TEXT COLLATE "C" NOT NULL,
    actor_id     TEXT COLLATE "C",
    card_id      TEXT COLLATE "C",
    data         TEXT COLLATE "C" NOT NULL
);
CREATE UNIQUE INDEX events_version ON events (board_id, version);

-- The audit log: who called which operation, and with which token.
CREATE TABLE audit (
    id           TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    at           BIGINT NOT NULL,
    workspace_id TEXT COLLATE "C",
    board_id     TEXT COLLATE "C",
    operation    TEXT COLLATE "C" NOT NULL,
    actor_type   TEXT COLLATE "C" NOT NULL,
    actor_id     TEXT COLLATE "C",
    token_id     TEXT COLLATE "C",
    subject      TEXT COLLATE "C",
    request_id   TEXT COLLATE "C",
    details      TEXT COLLATE "C" NOT NULL
);
CREATE INDEX audit_workspace ON audit (workspace_id, id);

-- The response to the first request with an idempotency key, kept for 24 hours.
CREATE TABLE idempotency (
    user_id      TEXT COLLATE "C" NOT NULL,
    key          TEXT COLLATE "C" NOT NULL,
    operation    TEXT COLLATE "C" NOT NULL,
    fingerprint  BYTEA NOT NULL,
    workspace_id TEXT COLLATE "C",
    board_id     TEXT COLLATE "C",
    fault        TEXT COLLATE "C" NOT NULL,
    answer       BYTEA NOT NULL,
    created_at   BIGINT NOT NULL,
    PRIMARY KEY (user_id, key)
);
CREATE INDEX idempotency_age ON idempotency (created_at);
