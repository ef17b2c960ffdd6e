-- +goose Up
-- The cause of a change, for automation: 'quiet' if the change sends no events; for a
-- change by a rule, its first cause and the rules since, separated by spaces; otherwise
-- NULL.
ALTER TABLE activity ADD COLUMN cause TEXT COLLATE "C";

-- Automation rules. The definition is JSON. off is the reason why a rule is switched
-- off, and empty while it is on. Changes up to the version in since, and times up to
-- watched_at, don't trigger the rule.
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

-- The runs of rules, written in the transaction of their actions. A rule runs once per
-- event.
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

-- Boards with an active rule: the version up to which their changes are processed, and
-- which server has claimed the board until when.
CREATE TABLE automation_boards (
    board_id TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES boards (id) ON DELETE CASCADE,
    handled  BIGINT NOT NULL,
    holder   TEXT COLLATE "C" NOT NULL DEFAULT '',
    until    BIGINT NOT NULL DEFAULT 0
);

-- Number of runs of an organization per day (UTC).
CREATE TABLE automation_days (
    organization_id TEXT COLLATE "C" NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    day             TEXT COLLATE "C" NOT NULL,
    used            BIGINT NOT NULL,
    PRIMARY KEY (organization_id, day)
);
