-- +goose Up
-- A board has the colour that somebody chose for it; NULL when nobody did.
ALTER TABLE boards ADD COLUMN color TEXT;

-- The lists of a board that a person has collapsed: their ids, a comma between.
ALTER TABLE board_visits ADD COLUMN collapsed TEXT NOT NULL DEFAULT '';

-- A workspace in the trash has no members, so nobody reaches it. Who they were
-- is kept aside until an owner restores it or its time there is over.
ALTER TABLE workspaces ADD COLUMN trashed_at INTEGER;
CREATE TABLE trashed_members (
    workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    user_id      TEXT NOT NULL REFERENCES users (id),
    role         TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX trashed_members_user ON trashed_members (user_id);
