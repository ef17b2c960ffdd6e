-- +goose Up
-- The searchable texts of cards: one row for a card's title (place 'title'), its
-- description, each comment, and each title of a checklist or item (place 'checklist').
-- ref is the id of the comment, checklist or item, and '' for the card itself. words
-- contains the words that query.Words extracts, with one space before, between and
-- after them.
CREATE TABLE texts (
    id      INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    card_id TEXT NOT NULL REFERENCES cards (id) ON DELETE CASCADE,
    place   TEXT NOT NULL,
    ref     TEXT NOT NULL,
    words   TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX texts_card ON texts (card_id, place, ref);

-- Finds the texts that contain a word. The ascii tokenizer splits at ASCII characters
-- other than letters and digits. In words, these are only the spaces, so the result
-- does not depend on SQLite's Unicode version. The index stores no positions: phrases
-- are checked against the text itself.
CREATE VIRTUAL TABLE texts_words USING fts5 (
    words, content = '', contentless_delete = 1, tokenize = 'ascii', detail = none
);
INSERT INTO texts_words (texts_words, rank) VALUES ('automerge', 8);

-- The last indexed text. For a short card, adding a row to the index costs more than
-- inserting the card, but adding 64 rows at once costs little more than adding one. So
-- texts are indexed 64 at a time, and a search reads the few newer texts directly.
-- AUTOINCREMENT never reuses an id, and a changed text gets a new id.
CREATE TABLE texts_indexed (
    upto INTEGER NOT NULL
) STRICT;
INSERT INTO texts_indexed (upto) VALUES (0);

-- Deleted texts that are still in the index. The index only finds candidates, so they
-- do no harm until the next 64 texts are indexed, when they are removed.
CREATE TABLE texts_gone (
    id INTEGER NOT NULL PRIMARY KEY
) STRICT;

-- The triggers also run for rows that ON DELETE CASCADE deletes.
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

-- The newest cards of all boards.
CREATE INDEX cards_updated ON cards (updated_at, id);

-- SQL cannot extract words, so Open fills the table for existing cards.
INSERT INTO settings (key, value) VALUES ('texts', 'missing');
