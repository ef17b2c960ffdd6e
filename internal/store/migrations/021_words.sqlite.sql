-- +goose Up
-- The index of words is held by workspace: each word has the end of its
-- workspace's id in front, as one term. So a word is looked up among the texts
-- of the workspaces that somebody is in, however many others there are. Two
-- workspaces whose ids end alike share their terms, which only finds candidates.
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

-- The people without an address (whose account was deleted, or who came with an
-- import) to whom cards of a workspace were assigned. They are members of none,
-- so nothing else leads from the workspace to them. One stays here who has no
-- card of it any more.
CREATE TABLE former_members (
    workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    user_id      TEXT NOT NULL REFERENCES users (id),
    PRIMARY KEY (workspace_id, user_id)
) STRICT, WITHOUT ROWID;

-- A card that goes to another workspace takes its words and its people along.
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

-- The index anew, from all texts.
INSERT INTO texts_words (texts_words) VALUES ('delete-all');
INSERT INTO texts_words (rowid, words) SELECT id, words FROM texts_by_workspace ORDER BY id;
UPDATE texts_indexed SET upto = MAX(upto, (SELECT COALESCE(MAX(id), 0) FROM texts));
DELETE FROM texts_gone;
