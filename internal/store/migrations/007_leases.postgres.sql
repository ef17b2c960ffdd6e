-- +goose Up
-- Leases for work that only one server does at a time.
CREATE TABLE leases (
    name       TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    holder     TEXT COLLATE "C" NOT NULL,
    until      BIGINT NOT NULL
);
CREATE INDEX boards_trash ON boards (trashed_at) WHERE trashed_at IS NOT NULL;
