-- +goose Up
-- In Hangul and some other scripts, each letter is now a word of the search index. The
-- program indexes the cards with such text again.
INSERT INTO settings (key, value) VALUES ('texts_scripts', 'old words');
