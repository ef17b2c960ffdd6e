-- +goose Up
-- Counts that several servers share for a rate limit: how much was used in the window
-- that ends at a time. at is when it was last reported.
CREATE TABLE rate_counts (
    key        TEXT NOT NULL PRIMARY KEY,
    used       INTEGER NOT NULL,
    ends       INTEGER NOT NULL,
    at         INTEGER NOT NULL
) STRICT;
