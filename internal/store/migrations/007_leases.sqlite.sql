-- +goose Up
-- Leases for work that only one server does at a time.
CREATE TABLE leases (
    name       TEXT NOT NULL PRIMARY KEY,
    holder     TEXT NOT NULL,
    until      INTEGER NOT NULL
) STRICT;
CREATE INDEX boards_trash ON boards (trashed_at) WHERE trashed_at IS NOT NULL;
