-- +goose Up
SET LOCAL lock_timeout = '10s';

-- What several servers count together against one limit: how much was used in
-- a window that ends at a time. At is when that was last told. A crash of the
-- database may forget it, so it costs no write of its log.
CREATE UNLOGGED TABLE rate_counts (
    key        TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    used       BIGINT NOT NULL,
    ends       BIGINT NOT NULL,
    at         BIGINT NOT NULL
);
