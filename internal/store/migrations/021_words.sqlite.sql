-- +goose Up
-- The search index is organized by workspace: each term is the end of a workspace's id
-- followed by a word. So a search reads only the texts of the caller's workspaces,
-- however many others there are. Workspaces whose ids end in the same characters share
-- terms; this is safe, because the index only finds candidates.
CREATE VIEW texts_by_workspace (id, card_id, words) AS
SELECT t.id, t.card_id, replace(rtrim(t.words), ' ', ' ' || COALESCE((SELECT substr(b.workspace_id, -8) FROM cards c JOIN boards b ON b.id = c.board_id WHERE c.id = t.card_id), ''))
FROM texts t;

DROP TRIGGER texts_inserted;
-- +goose StatementBegin
CREATE TRIGGER texts_inserted AFTER INSERT ON texts WHEN new.id >= (SELECT upto FROM texts_indexed) + 64 BEGIN
    INSERT INTO texts_words (rowid, words) SELECT id, words FROM texts_by_workspace WHERE id > (SELECT upto FROM texts_indexed);
    UPDATE texts_indexed SET upto = new.id;
    DELETE FROM texts_words WHERE rowid IN (SELECT id FROM texts_gone ORDER BY id LIMIT 256);
    DELETE FROM texts_gone WHERE id IN (SELECT id FROM texts_gone ORDER BY id LIMIT 256);
END;
-- +goose StatementEnd

-- People without an address (because their account was deleted or they were imported)
-- who were assigned to cards of a workspace. They are not members, so nothing else
-- links the workspace to them. They stay in this table when they have no more cards in
-- the workspace.
CREATE TABLE former_members (
    workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    user_id      TEXT NOT NULL REFERENCES users (id),
    PRIMARY KEY (workspace_id, user_id)
) STRICT, WITHOUT ROWID;

-- A card that moves to another workspace is indexed there, and its people without an
-- address are added there.
-- +goose StatementBegin
CREATE TRIGGER cards_workspace AFTER UPDATE OF board_id ON cards
WHEN (SELECT workspace_id FROM boards WHERE id = old.board_id) IS NOT (SELECT workspace_id FROM boards WHERE id = new.board_id) BEGIN
    DELETE FROM texts_words WHERE rowid IN (SELECT id FROM texts WHERE card_id = new.id AND id <= (SELECT upto FROM texts_indexed));
    INSERT INTO texts_words (rowid, words) SELECT id, words FROM texts_by_workspace WHERE card_id = new.id AND id <= (SELECT upto FROM texts_indexed);
    INSERT INTO former_members (workspace_id, user_id) SELECT b.workspace_id, k.user_id
        FROM boards b, card_assignees k JOIN users u ON u.id = k.user_id WHERE b.id = new.board_id AND k.card_id = new.id AND u.email IS NULL
        AND NOT EXISTS (SELECT 1 FROM former_members f WHERE f.workspace_id = b.workspace_id AND f.user_id = k.user_id);
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER card_assignees_former AFTER INSERT ON card_assignees WHEN (SELECT u.email IS NULL FROM users u WHERE u.id = new.user_id) BEGIN
    INSERT INTO former_members (workspace_id, user_id) SELECT b.workspace_id, new.user_id FROM cards c JOIN boards b ON b.id = c.board_id WHERE c.id = new.card_id
        AND NOT EXISTS (SELECT 1 FROM former_members f WHERE f.workspace_id = b.workspace_id AND f.user_id = new.user_id);
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER users_former AFTER UPDATE OF email ON users WHEN new.email IS NULL AND old.email IS NOT NULL BEGIN
    INSERT INTO former_members (workspace_id, user_id) SELECT DISTINCT b.workspace_id, new.id FROM card_assignees k JOIN cards c ON c.id = k.card_id JOIN boards b ON b.id = c.board_id
        WHERE k.user_id = new.id AND NOT EXISTS (SELECT 1 FROM former_members f WHERE f.workspace_id = b.workspace_id AND f.user_id = new.id);
END;
-- +goose StatementEnd

-- Rebuild the index from all texts.
INSERT INTO texts_words (texts_words) VALUES ('delete-all');
INSERT INTO texts_words (rowid, words) SELECT id, words FROM texts_by_workspace ORDER BY id;
UPDATE texts_indexed SET upto = MAX(upto, (SELECT COALESCE(MAX(id), 0) FROM texts));
DELETE FROM texts_gone;
