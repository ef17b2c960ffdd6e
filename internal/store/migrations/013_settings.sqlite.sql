-- +goose Up
-- The color that a person chose for a board, or NULL.
ALTER TABLE boards ADD COLUMN color TEXT;

-- Ids of the lists of a board that a person has collapsed, separated by commas.
ALTER TABLE board_visits ADD COLUMN collapsed TEXT NOT NULL DEFAULT '';

-- A workspace in the trash has no members, so no one can access it. Its former members
-- are kept here until an owner restores it or it is purged.
ALTER TABLE workspaces ADD COLUMN trashed_at INTEGER;
CREATE TABLE trashed_members (
    workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    user_id      TEXT NOT NULL REFERENCES users (id),
    role         TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX trashed_members_user ON trashed_members (user_id);
