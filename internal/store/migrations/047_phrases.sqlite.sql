-- +goose Up
-- The search index now stores the positions of words (detail = full), so that it finds a
-- phrase of common words without reading all texts that contain the words.
DROP TABLE texts_words;
CREATE VIRTUAL TABLE texts_words USING fts5 (
    words, content = '', contentless_delete = 1, tokenize = 'ascii', detail = full
);
INSERT INTO texts_words (texts_words, rank) VALUES ('automerge', 8);

-- Rebuild the index from all texts.
INSERT INTO texts_words (rowid, words) SELECT id, words FROM texts_by_workspace ORDER BY id;
UPDATE texts_indexed SET upto = MAX(upto, (SELECT COALESCE(MAX(id), 0) FROM texts));
DELETE FROM texts_gone;
