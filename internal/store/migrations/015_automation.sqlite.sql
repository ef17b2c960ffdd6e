-- +goose Up
-- What automation has to know of a change: 'quiet' for one that sends no events;
-- for one by a rule the cause of all and the rules since, spaces between; else
-- nothing.
ALTER TABLE activity ADD COLUMN cause TEXT;

-- When something happens on a board, do something. The definition is JSON; off
-- says why a rule is off, and is empty while it is on. Changes up to the version
-- in since, and times up to watched_at, don't set it off.
CREATE TABLE rules (
    id         TEXT NOT NULL PRIMARY KEY,
    board_id   TEXT NOT NULL REFERENCES boards (id) ON DELETE CASCADE,
    owner_id   TEXT NOT NULL REFERENCES users (id),
    name       TEXT NOT NULL,
    timed      INTEGER NOT NULL,
    definition TEXT NOT NULL,
    off        TEXT NOT NULL,
    off_at     INTEGER,
    since      INTEGER NOT NULL,
    watched_at INTEGER NOT NULL,
    failures   INTEGER NOT NULL DEFAULT 0,
    last_run   INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX rules_board ON rules (board_id, id);
CREATE INDEX rules_owner ON rules (owner_id);
CREATE INDEX rules_timed ON rules (board_id) WHERE timed = 1 AND off = '';

-- What rules did, written with what they did: a rule runs once for an event.
CREATE TABLE rule_runs (
    id       TEXT NOT NULL PRIMARY KEY,
    rule_id  TEXT NOT NULL REFERENCES rules (id) ON DELETE CASCADE,
    board_id TEXT NOT NULL REFERENCES boards (id) ON DELETE CASCADE,
    event    TEXT NOT NULL,
    kind     TEXT NOT NULL,
    card_id  TEXT,
    root     TEXT NOT NULL,
    at       INTEGER NOT NULL,
    status   TEXT NOT NULL,
    reason   TEXT NOT NULL,
    actions  INTEGER NOT NULL,
    version  INTEGER
) STRICT;
CREATE UNIQUE INDEX rule_runs_event ON rule_runs (rule_id, event);
CREATE INDEX rule_runs_board ON rule_runs (board_id, id);
CREATE INDEX rule_runs_card ON rule_runs (card_id, at);
CREATE INDEX rule_runs_root ON rule_runs (root);

-- The boards that have a rule that is on: how far their changes are handled,
-- and which server is at it until when.
CREATE TABLE automation_boards (
    board_id TEXT NOT NULL PRIMARY KEY REFERENCES boards (id) ON DELETE CASCADE,
    handled  INTEGER NOT NULL,
    holder   TEXT NOT NULL DEFAULT '',
    until    INTEGER NOT NULL DEFAULT 0
) STRICT;

-- How many runs an organization had on a day (UTC).
CREATE TABLE automation_days (
    organization_id TEXT NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    day             TEXT NOT NULL,
    used            INTEGER NOT NULL,
    PRIMARY KEY (organization_id, day)
) STRICT;
