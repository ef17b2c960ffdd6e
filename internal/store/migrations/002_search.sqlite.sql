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
    words, content = '', contentless_delete = 1, tokenize = 'ascii', detail = none
);
INSERT INTO texts_words (texts_words, rank) VALUES ('automerge', 8);

-- A row of the index costs a short card more than its own insert, 64 rows at
-- once little more than one. So the index knows the texts up to here, and the
-- few behind are read one by one. AUTOINCREMENT gives no id twice, and a text
-- that changes gets another id.
CREATE TABLE texts_indexed (
    upto INTEGER NOT NULL
) STRICT;
INSERT INTO texts_indexed (upto) VALUES (0);

-- Texts that are gone and that the index still knows: it only finds
-- candidates, so they do no harm until the next 64 take them along.
CREATE TABLE texts_gone (
    id INTEGER NOT NULL PRIMARY KEY
) STRICT;

-- The triggers also run for rows that ON DELETE CASCADE takes away.
-- +goose StatementBegin
CREATE TRIGGER texts_inserted AFTER INSERT ON texts WHEN new.id >= (SELECT upto FROM texts_indexed) + 64 BEGIN
    INSERT INTO texts_words (rowid, words) SELECT id, words FROM texts WHERE id > (SELECT upto FROM texts_indexed);
    UPDATE texts_indexed SET upto = new.id;
    DELETE FROM texts_words WHERE rowid IN (SELECT id FROM texts_gone ORDER BY id LIMIT 256);
    DELETE FROM texts_gone WHERE id IN (SELECT id FROM texts_gone ORDER BY id LIMIT 256);
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER texts_deleted AFTER DELETE ON texts WHEN old.id <= (SELECT upto FROM texts_indexed) BEGIN
    INSERT INTO texts_gone (id) VALUES (old.id);
END;
-- +goose StatementEnd

-- The newest cards first, over all boards.
CREATE INDEX cards_updated ON cards (updated_at, id);

-- Only Go knows the words of the cards that are there: Open writes them.
INSERT INTO settings (key, value) VALUES ('texts', 'missing');
