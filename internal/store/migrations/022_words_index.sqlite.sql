-- +goose Up
-- On SQLite, migration 021 creates the search index.
SELECT 1;
