-- +goose NO TRANSACTION
-- +goose Up
SET lock_timeout = 0;

-- The newest cards first, over all boards, with the board in the index: who looks
-- for the newest of some boards passes by the cards of others without reading them.
DROP INDEX CONCURRENTLY IF EXISTS cards_newest;
CREATE INDEX CONCURRENTLY cards_newest ON cards (updated_at, id, board_id);
DROP INDEX CONCURRENTLY IF EXISTS cards_updated;

RESET lock_timeout;
