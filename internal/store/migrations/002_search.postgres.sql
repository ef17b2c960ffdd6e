-- +goose Up
-- The searchable texts of cards: one row for a card's title (place 'title'), its
-- description, each comment, and each title of a checklist or item (place 'checklist').
-- ref is the id of the comment, checklist or item, and '' for the card itself. words
-- contains the words that query.Words extracts, with one space before, between and
-- after them.
CREATE TABLE texts (
    id      BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    card_id TEXT COLLATE "C" NOT NULL REFERENCES cards (id) ON DELETE CASCADE,
    place   TEXT COLLATE "C" NOT NULL,
    ref     TEXT COLLATE "C" NOT NULL,
    words   TEXT COLLATE "C" NOT NULL
);
CREATE UNIQUE INDEX texts_card ON texts (card_id, place, ref);

-- Finds the texts that contain a word. The words are indexed as they are, without
-- PostgreSQL's parser and dictionaries. The index stores no positions: phrases are
-- checked against the text itself.
CREATE INDEX texts_words ON texts USING gin (array_to_tsvector(string_to_array(btrim(words), ' '))) WITH (fastupdate = off);

-- The newest cards of all boards.
CREATE INDEX cards_updated ON cards (updated_at, id);

-- SQL cannot extract words, so Open fills the table for existing cards.
INSERT INTO settings (key, value) VALUES ('texts', 'missing');
