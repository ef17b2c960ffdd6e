-- +goose Up
-- The color that a person chose for a board, or NULL.
ALTER TABLE boards ADD COLUMN color TEXT COLLATE "C";

-- Ids of the lists of a board that a person has collapsed, separated by commas.
ALTER TABLE board_visits ADD COLUMN collapsed TEXT COLLATE "C" NOT NULL DEFAULT '';

-- A workspace in the trash has no members, so no one can access it. Its former members
-- are kept here until an owner restores it or it is purged.
ALTER TABLE workspaces ADD COLUMN trashed_at BIGINT;
CREATE TABLE trashed_members (
    workspace_id TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    user_id      TEXT COLLATE "C" NOT NULL REFERENCES users (id),
    role         TEXT COLLATE "C" NOT NULL,
    created_at   BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, user_id)
);
CREATE INDEX trashed_members_user ON trashed_members (user_id);
