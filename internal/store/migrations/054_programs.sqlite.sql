-- +goose Up
-- The name of the app or API token that made the change for the actor; NULL for none.
ALTER TABLE activity ADD COLUMN program TEXT;
