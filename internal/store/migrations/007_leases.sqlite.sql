-- +goose Up
-- Work that one of several servers does at a time: who holds it until when.
CREATE TABLE leases (
    name       TEXT NOT NULL PRIMARY KEY,
    holder     TEXT NOT NULL,
    until      INTEGER NOT NULL
) STRICT;
CREATE INDEX boards_trash ON boards (trashed_at) WHERE trashed_at IS NOT NULL;
