-- +goose Up
SET LOCAL lock_timeout = '10s';

-- The lists that jobs are moving from one board to another. Cards in transit are in the
-- list hidden_id of the first board. Until the move is complete, no one else can change
-- the list.
CREATE TABLE list_moves (
    job_id    TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES jobs (id) ON DELETE CASCADE,
    list_id   TEXT COLLATE "C" NOT NULL REFERENCES lists (id) ON DELETE CASCADE,
    hidden_id TEXT COLLATE "C" NOT NULL REFERENCES lists (id) ON DELETE CASCADE,
    from_id   TEXT COLLATE "C" NOT NULL REFERENCES boards (id) ON DELETE CASCADE,
    to_id     TEXT COLLATE "C" NOT NULL REFERENCES boards (id) ON DELETE CASCADE
);
CREATE INDEX list_moves_list ON list_moves (list_id);
CREATE INDEX list_moves_hidden ON list_moves (hidden_id);
CREATE INDEX list_moves_from ON list_moves (from_id);
CREATE INDEX list_moves_to ON list_moves (to_id);
