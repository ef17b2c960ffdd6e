-- +goose Up
SET LOCAL lock_timeout = '10s';

-- The number of done cards among boards.open_cards, as of the version done_cards_version.
-- Servers of an earlier version change a board without it. While it is out of date, each
-- read counts the cards. Open counts the cards of all boards, one board at a time.
ALTER TABLE boards ADD COLUMN done_cards BIGINT NOT NULL DEFAULT 0;
ALTER TABLE boards ADD COLUMN done_cards_version BIGINT;
INSERT INTO settings (key, value) VALUES ('done_cards', 'missing');
