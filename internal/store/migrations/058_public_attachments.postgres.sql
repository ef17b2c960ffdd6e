-- +goose Up
SET LOCAL lock_timeout = '10s';

-- Whether the page shows the attachments of cards.
ALTER TABLE public_pages ADD COLUMN attachments BIGINT NOT NULL DEFAULT 0;
