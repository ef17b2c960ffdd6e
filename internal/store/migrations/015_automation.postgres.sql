-- +goose Up
-- What automation has to know of a change: 'quiet' for one that sends no events;
-- for one by a rule the cause of all and the rules since, spaces between; else
-- nothing.
ALTER TABLE activity ADD COLUMN cause TEXT COLLATE "C";

-- When something happens on a board, do something. The definition is JSON; off
-- says why a rule is off, and is empty while it is on. Changes up to the version
-- in since, and times up to watched_at, don't set it off.
CREATE TABLE rules (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    board_id   TEXT COLLATE "C" NOT NULL REFERENCES boards (id) ON DELETE CASCADE,
    owner_id   TEXT COLLATE "C" NOT NULL REFERENCES users (id),
    name       TEXT COLLATE "C" NOT NULL,
    timed      BIGINT NOT NULL,
    definition TEXT COLLATE "C" NOT NULL,
    off        TEXT COLLATE "C" NOT NULL,
    off_at     BIGINT,
    since      BIGINT NOT NULL,
    watched_at BIGINT NOT NULL,
    failures   BIGINT NOT NULL DEFAULT 0,
    last_run   BIGINT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX rules_board ON rules (board_id, id);
CREATE INDEX rules_owner ON rules (owner_id);
CREATE INDEX rules_timed ON rules (board_id) WHERE timed = 1 AND off = '';

-- What rules did, written with what they did: a rule runs once for an event.
CREATE TABLE rule_runs (
    id       TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    rule_id  TEXT COLLATE "C" NOT NULL REFERENCES rules (id) ON DELETE CASCADE,
    board_id TEXT COLLATE "C" NOT NULL REFERENCES boards (id) ON DELETE CASCADE,
    event    TEXT COLLATE "C" NOT NULL,
    kind     TEXT COLLATE "C" NOT NULL,
    card_id  TEXT COLLATE "C",
    root     TEXT COLLATE "C" NOT NULL,
    at       BIGINT NOT NULL,
    status   TEXT COLLATE "C" NOT NULL,
    reason   TEXT COLLATE "C" NOT NULL,
    actions  BIGINT NOT NULL,
    version  BIGINT
);
CREATE UNIQUE INDEX rule_runs_event ON rule_runs (rule_id, event);
CREATE INDEX rule_runs_board ON rule_runs (board_id, id);
CREATE INDEX rule_runs_card ON rule_runs (card_id, at);
CREATE INDEX rule_runs_root ON rule_runs (root);

-- The boards that have a rule that is on: how far their changes are handled,
-- and which server is at it until when.
CREATE TABLE automation_boards (
    board_id TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES boards (id) ON DELETE CASCADE,
    handled  BIGINT NOT NULL,
    holder   TEXT COLLATE "C" NOT NULL DEFAULT '',
    until    BIGINT NOT NULL DEFAULT 0
);

-- How many runs an organization had on a day (UTC).
CREATE TABLE automation_days (
    organization_id TEXT COLLATE "C" NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    day             TEXT COLLATE "C" NOT NULL,
    used            BIGINT NOT NULL,
    PRIMARY KEY (organization_id, day)
);
