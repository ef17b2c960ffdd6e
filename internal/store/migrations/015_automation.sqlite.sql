-- +goose Up
-- The cause of a change, for automation: 'quiet' if the change sends no events; for a
-- change by a rule, its first cause and the rules since, separated by spaces; otherwise
-- NULL.
ALTER TABLE activity ADD COLUMN cause TEXT;

-- Automation rules. The definition is JSON. off is the reason why a rule is switched
-- off, and empty while it is on. Changes up to the version in since, and times up to
-- watched_at, don't trigger the rule.
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

-- The runs of rules, written in the transaction of their actions. A rule runs once per
-- event.
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

-- Boards with an active rule: the version up to which their changes are processed, and
-- which server has claimed the board until when.
CREATE TABLE automation_boards (
    board_id TEXT NOT NULL PRIMARY KEY REFERENCES boards (id) ON DELETE CASCADE,
    handled  INTEGER NOT NULL,
    holder   TEXT NOT NULL DEFAULT '',
    until    INTEGER NOT NULL DEFAULT 0
) STRICT;

-- Number of runs of an organization per day (UTC).
CREATE TABLE automation_days (
    organization_id TEXT NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    day             TEXT NOT NULL,
    used            INTEGER NOT NULL,
    PRIMARY KEY (organization_id, day)
) STRICT;
