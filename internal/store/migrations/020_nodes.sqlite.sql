-- +goose Up
-- What several servers count together against one limit: how much was used in
-- a window that ends at a time. At is when that was last told.
CREATE TABLE rate_counts (
    key        TEXT NOT NULL PRIMARY KEY,
    used       INTEGER NOT NULL,
    ends       INTEGER NOT NULL,
    at         INTEGER NOT NULL
) STRICT;
