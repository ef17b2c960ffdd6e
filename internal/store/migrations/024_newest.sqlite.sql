-- +goose Up
-- The newest cards first, over all boards, with the board in the index: who looks
-- for the newest of some boards passes by the cards of others without reading them.
CREATE INDEX cards_newest ON cards (updated_at, id, board_id);
DROP INDEX cards_updated;
