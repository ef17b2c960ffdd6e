-- +goose Up
-- What a workspace keeps of its boards to begin new ones from. The templates
-- that come with the program are in its code (board.BuiltInTemplates).
-- outline is what a list of templates shows, content all that a board is made
-- of: JSON, with its own version in it, and never anybody's id.
CREATE TABLE board_templates (
    id           TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    workspace_id TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    name         TEXT COLLATE "C" NOT NULL,
    description  TEXT COLLATE "C" NOT NULL,
    created_at   BIGINT NOT NULL,
    outline      TEXT COLLATE "C" NOT NULL,
    content      TEXT COLLATE "C" NOT NULL
);
CREATE INDEX board_templates_workspace ON board_templates (workspace_id, id);
