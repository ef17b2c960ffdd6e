-- +goose Up
-- Reads an entry of the activity by its id.
CREATE INDEX activity_id ON activity (id);
