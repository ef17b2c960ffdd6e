-- +goose Up
SET LOCAL lock_timeout = '10s';

-- Counts that several servers share for a rate limit: how much was used in the window
-- that ends at a time. at is when it was last reported. A crash of the database may
-- lose the counts, so the table is unlogged.
CREATE UNLOGGED TABLE rate_counts (
    key        TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    used       BIGINT NOT NULL,
    ends       BIGINT NOT NULL,
    at         BIGINT NOT NULL
);
