-- +goose Up
SET LOCAL lock_timeout = '10s';

-- The lists that jobs create. Until a list is complete, it is archived and hidden
-- there. Its cards get consecutive numbers from first_number.
CREATE TABLE job_lists (
    list_id      TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES lists (id) ON DELETE CASCADE,
    job_id       TEXT COLLATE "C" NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    board_id     TEXT COLLATE "C" NOT NULL REFERENCES boards (id) ON DELETE CASCADE,
    first_number BIGINT NOT NULL DEFAULT 0,
    cards        BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX job_lists_job ON job_lists (job_id);
CREATE INDEX job_lists_board ON job_lists (board_id);

-- The versions of a board, from first to last, that a change has reserved and whose
-- activity entries a job is still writing. written is the number of parts written so
-- far.
CREATE TABLE pending_activity (
    job_id       TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES jobs (id) ON DELETE CASCADE,
    board_id     TEXT COLLATE "C" NOT NULL REFERENCES boards (id) ON DELETE CASCADE,
    first        BIGINT NOT NULL,
    last         BIGINT NOT NULL,
    at           BIGINT NOT NULL,
    list_id      TEXT COLLATE "C" NOT NULL,
    first_number BIGINT NOT NULL,
    used         TEXT COLLATE "C" NOT NULL,
    written      BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX pending_activity_board ON pending_activity (board_id, first);
