-- +goose Up
-- Templates of a workspace for new boards. Built-in templates are in the code
-- (board.BuiltInTemplates). outline is what a list of templates shows. content is
-- everything that a board is created from: JSON that contains its format version and no
-- ids of people.
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
