-- +goose Up
-- Stored search queries, without their results.
CREATE TABLE saved_filters (
    id           TEXT NOT NULL PRIMARY KEY,
    workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    owner_id     TEXT NOT NULL REFERENCES users (id),
    name         TEXT NOT NULL,
    query        TEXT NOT NULL,
    shared       INTEGER NOT NULL,
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL
) STRICT;
CREATE INDEX saved_filters_workspace ON saved_filters (workspace_id, id);
CREATE INDEX saved_filters_owner ON saved_filters (owner_id);
