-- +goose Up
-- The cards of an archived list are not open, so boards.open_cards must exclude them.
-- Open counts the cards of boards with archived lists again, one board at a time.
INSERT INTO settings (key, value) VALUES ('open_cards', 'missing');
