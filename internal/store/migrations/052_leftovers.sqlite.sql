-- +goose Up
-- A setting of former migrations that nothing reads.
DELETE FROM settings WHERE key = 'open_cards';
