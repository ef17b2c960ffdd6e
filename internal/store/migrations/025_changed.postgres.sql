-- +goose NO TRANSACTION
-- +goose Up
SET lock_timeout = 0;

-- The cards of a board by their last change. A query for the latest changes on one or a
-- few boards reads no other cards and no other boards.
DROP INDEX CONCURRENTLY IF EXISTS cards_changed;
CREATE INDEX CONCURRENTLY cards_changed ON cards (board_id, updated_at, id);

RESET lock_timeout;
