-- +goose Up
-- The cards of an archived list are not open: boards.open_cards leaves them out.
-- The program counts the boards that have archived lists, one at a time.
INSERT INTO settings (key, value) VALUES ('open_cards', 'missing');
