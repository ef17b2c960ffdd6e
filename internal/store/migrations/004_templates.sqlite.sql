-- +goose Up
-- What a workspace keeps of its boards to begin new ones from. The templates
-- that come with the program are in its code (board.BuiltInTemplates).
-- outline is what a list of templates shows, content all that a board is made
-- of: JSON, with its own version in it, and never anybody's id.
CREATE TABLE board_templates (
    id           TEXT NOT NULL PRIMARY KEY,
    workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    name         TEXT NOT NULL,
    description  TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    outline      TEXT NOT NULL,
    content      TEXT NOT NULL
) STRICT;
CREATE INDEX board_templates_workspace ON board_templates (workspace_id, id);
