-- +goose Up
-- On SQLite, migration 047 creates the search index.
SELECT 1;
