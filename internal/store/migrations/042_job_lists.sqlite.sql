-- +goose Up
-- The lists that jobs make. Until a list is complete it is archived, and nobody sees
-- it there. Its cards get consecutive numbers from first_number.
CREATE TABLE job_lists (
    list_id      TEXT NOT NULL PRIMARY KEY REFERENCES lists (id) ON DELETE CASCADE,
    job_id       TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    board_id     TEXT NOT NULL REFERENCES boards (id) ON DELETE CASCADE,
    first_number INTEGER NOT NULL DEFAULT 0,
    cards        INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX job_lists_job ON job_lists (job_id);
CREATE INDEX job_lists_board ON job_lists (board_id);

-- The versions of a board that a change has taken and whose entries a job is still
-- writing to its activity, from first to last. Written is the number of parts written.
CREATE TABLE pending_activity (
    job_id       TEXT NOT NULL PRIMARY KEY REFERENCES jobs (id) ON DELETE CASCADE,
    board_id     TEXT NOT NULL REFERENCES boards (id) ON DELETE CASCADE,
    first        INTEGER NOT NULL,
    last         INTEGER NOT NULL,
    at           INTEGER NOT NULL,
    list_id      TEXT NOT NULL,
    first_number INTEGER NOT NULL,
    used         TEXT NOT NULL,
    written      INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX pending_activity_board ON pending_activity (board_id, first);
