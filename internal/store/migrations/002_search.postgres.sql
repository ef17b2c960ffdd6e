-- +goose Up
-- The texts of a card, as words: one row for its title (place 'title'), its
-- description, each comment, and each title of a checklist or item (place
-- 'checklist'). ref is the comment, checklist or item, '' for the card itself.
-- words is what query.Words makes of the text, a space around each.
CREATE TABLE texts (
    id      BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    card_id TEXT COLLATE "C" NOT NULL REFERENCES cards (id) ON DELETE CASCADE,
    place   TEXT COLLATE "C" NOT NULL,
    ref     TEXT COLLATE "C" NOT NULL,
    words   TEXT COLLATE "C" NOT NULL
);
CREATE UNIQUE INDEX texts_card ON texts (card_id, place, ref);

-- Which texts hold a word. The words are taken as they are: no dictionary and
-- no parser of PostgreSQL sees them. Positions are not kept: that words stand
-- side by side is read from the text itself.
CREATE INDEX texts_words ON texts USING gin (array_to_tsvector(string_to_array(btrim(words), ' '))) WITH (fastupdate = off);

-- The newest cards first, over all boards.
CREATE INDEX cards_updated ON cards (updated_at, id);

-- Only Go knows the words of the cards that are there: Open writes them.
INSERT INTO settings (key, value) VALUES ('texts', 'missing');
