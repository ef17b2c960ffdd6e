-- +goose Up
SET LOCAL lock_timeout = '10s';

-- People without an address (because their account was deleted or they were imported)
-- who were assigned to cards of a workspace. They are not members, so nothing else
-- links the workspace to them. They stay in this table when they have no more cards in
-- the workspace.
CREATE TABLE former_members (
    workspace_id TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    user_id      TEXT COLLATE "C" NOT NULL REFERENCES users (id),
    PRIMARY KEY (workspace_id, user_id)
);

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION users_former() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO former_members (workspace_id, user_id) SELECT DISTINCT b.workspace_id, NEW.id
        FROM card_assignees k JOIN cards c ON c.id = k.card_id JOIN boards b ON b.id = c.board_id WHERE k.user_id = NEW.id
        ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER users_former AFTER UPDATE OF email ON users FOR EACH ROW WHEN (NEW.email IS NULL AND OLD.email IS NOT NULL) EXECUTE FUNCTION users_former();

-- A card that moves to another workspace is indexed there, and its people without an
-- address are added there.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION cards_workspace() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE texts t SET workspace_id = b.workspace_id FROM boards b
        WHERE t.card_id = NEW.id AND b.id = NEW.board_id AND t.workspace_id IS DISTINCT FROM b.workspace_id;
    INSERT INTO former_members (workspace_id, user_id) SELECT b.workspace_id, k.user_id
        FROM boards b, card_assignees k JOIN users u ON u.id = k.user_id WHERE b.id = NEW.board_id AND k.card_id = NEW.id AND u.email IS NULL
        ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER cards_workspace AFTER UPDATE OF board_id ON cards FOR EACH ROW WHEN (NEW.board_id <> OLD.board_id) EXECUTE FUNCTION cards_workspace();

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION card_assignees_former() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO former_members (workspace_id, user_id) SELECT b.workspace_id, u.id
        FROM users u, cards c JOIN boards b ON b.id = c.board_id WHERE u.id = NEW.user_id AND u.email IS NULL AND c.id = NEW.card_id
        ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER card_assignees_former AFTER INSERT ON card_assignees FOR EACH ROW EXECUTE FUNCTION card_assignees_former();

-- The workspace of a text, used only by the search index. A trigger fills it, so that
-- servers of the previous version also set it. SQLite has no such column, so copies
-- between databases omit it.
ALTER TABLE texts ADD COLUMN workspace_id TEXT COLLATE "C";
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION texts_workspace() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    SELECT b.workspace_id INTO NEW.workspace_id FROM cards c JOIN boards b ON b.id = c.board_id WHERE c.id = NEW.card_id;
    RETURN NEW;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER texts_workspace BEFORE INSERT ON texts FOR EACH ROW EXECUTE FUNCTION texts_workspace();

-- Open fills the column for existing texts, in batches.
INSERT INTO settings (key, value) VALUES ('texts_workspace', 'missing');
