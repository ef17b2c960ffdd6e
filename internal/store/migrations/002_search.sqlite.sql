-- +goose Up
-- The texts of a card, as words: one row for its title (place 'title'), its
-- description, each comment, and each title of a checklist or item (place
-- 'checklist'). ref is the comment, checklist or item, '' for the card itself.
-- words is what query.Words makes of the text, a space around each.
CREATE TABLE texts (
    id      INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    card_id TEXT NOT NULL REFERENCES cards (id) ON DELETE CASCADE,
    place   TEXT NOT NULL,
    ref     TEXT NOT NULL,
    words   TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX texts_card ON texts (card_id, place, ref);

-- Which texts hold a word. The ascii tokenizer splits at ASCII characters that
-- are no letter or digit, so at our spaces alone, whatever Unicode is known to
-- SQLite. Positions are not kept: that words stand side by side is read from
-- the text itself.
CREATE VIRTUAL TABLE texts_words USING fts5 (
    words, content = 'texts', content_rowid = 'id', tokenize = 'ascii', detail = none, columnsize = 0
);
INSERT INTO texts_words (texts_words, rank) VALUES ('automerge', 8);

-- A row of the index costs a short card more than its own insert, 64 rows at
-- once little more than one. So the index knows the texts up to here, and the
-- few behind are read one by one. AUTOINCREMENT gives no id twice.
CREATE TABLE texts_indexed (
    upto INTEGER NOT NULL
) STRICT;
INSERT INTO texts_indexed (upto) VALUES (0);

-- The triggers also run for rows that ON DELETE CASCADE takes away.
-- +goose StatementBegin
CREATE TRIGGER texts_inserted AFTER INSERT ON texts WHEN new.id >= (SELECT upto FROM texts_indexed) + 64 BEGIN
    INSERT INTO texts_words (rowid, words) SELECT id, words FROM texts WHERE id > (SELECT upto FROM texts_indexed);
    UPDATE texts_indexed SET upto = new.id;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER texts_deleted AFTER DELETE ON texts WHEN old.id <= (SELECT upto FROM texts_indexed) BEGIN
    INSERT INTO texts_words (texts_words, rowid, words) VALUES ('delete', old.id, old.words);
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER texts_updated AFTER UPDATE ON texts WHEN old.id <= (SELECT upto FROM texts_indexed) BEGIN
    INSERT INTO texts_words (texts_words, rowid, words) VALUES ('delete', old.id, old.words);
    INSERT INTO texts_words (rowid, words) VALUES (new.id, new.words);
END;
-- +goose StatementEnd

-- The newest cards first, over all boards.
CREATE INDEX cards_updated ON cards (updated_at, id);

-- Only Go knows the words of the cards that are there: Open writes them.
INSERT INTO settings (key, value) VALUES ('texts', 'missing');
