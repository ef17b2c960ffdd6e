-- +goose NO TRANSACTION
-- +goose Up
SET lock_timeout = 0;

-- The latest assignments of a person.
DROP INDEX CONCURRENTLY IF EXISTS card_assignees_recent;
CREATE INDEX CONCURRENTLY card_assignees_recent ON card_assignees (user_id, assigned_at, card_id);

RESET lock_timeout;
