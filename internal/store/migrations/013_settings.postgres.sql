-- +goose Up
-- A board has the colour that somebody chose for it; NULL when nobody did.
ALTER TABLE boards ADD COLUMN color TEXT COLLATE "C";

-- The lists of a board that a person has collapsed: their ids, a comma between.
ALTER TABLE board_visits ADD COLUMN collapsed TEXT COLLATE "C" NOT NULL DEFAULT '';

-- A workspace in the trash has no members, so nobody reaches it. Who they were
-- is kept aside until an owner restores it or its time there is over.
ALTER TABLE workspaces ADD COLUMN trashed_at BIGINT;
CREATE TABLE trashed_members (
    workspace_id TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    user_id      TEXT COLLATE "C" NOT NULL REFERENCES users (id),
    role         TEXT COLLATE "C" NOT NULL,
    created_at   BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, user_id)
);
CREATE INDEX trashed_members_user ON trashed_members (user_id);
