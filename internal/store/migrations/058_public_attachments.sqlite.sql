-- +goose Up
-- Whether the page shows the attachments of cards.
ALTER TABLE public_pages ADD COLUMN attachments INTEGER NOT NULL DEFAULT 0;
