-- +goose Up
-- Stored search queries, without their results.
CREATE TABLE saved_filters (
    id           TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    workspace_id TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    owner_id     TEXT COLLATE "C" NOT NULL REFERENCES users (id),
    name         TEXT COLLATE "C" NOT NULL,
    query        TEXT COLLATE "C" NOT NULL,
    shared       BIGINT NOT NULL,
    created_at   BIGINT NOT NULL,
    updated_at   BIGINT NOT NULL
);
CREATE INDEX saved_filters_workspace ON saved_filters (workspace_id, id);
CREATE INDEX saved_filters_owner ON saved_filters (owner_id);
