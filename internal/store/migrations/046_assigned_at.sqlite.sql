-- +goose Up
-- The latest assignments of a person.
CREATE INDEX card_assignees_recent ON card_assignees (user_id, assigned_at, card_id);
