-- +goose Up
-- Long work: imports, copies of large boards and boards from large templates.
CREATE TABLE jobs (
    id              TEXT NOT NULL PRIMARY KEY,
    kind            TEXT NOT NULL,
    state           TEXT NOT NULL,
    owner_id        TEXT NOT NULL REFERENCES users (id),
    organization_id TEXT NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    workspace_id    TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    name            TEXT NOT NULL,
    caller          TEXT NOT NULL,
    input           TEXT NOT NULL,
    result          TEXT,
    fault           TEXT,
    parts           INTEGER,
    written         INTEGER NOT NULL DEFAULT 0,
    done            INTEGER NOT NULL DEFAULT 0,
    total           INTEGER NOT NULL DEFAULT 0,
    tries           INTEGER NOT NULL DEFAULT 0,
    holder          TEXT NOT NULL DEFAULT '',
    until           INTEGER NOT NULL DEFAULT 0,
    created_at      INTEGER NOT NULL,
    started_at      INTEGER,
    ended_at        INTEGER
) STRICT;
CREATE INDEX jobs_owner ON jobs (owner_id, id);
CREATE INDEX jobs_organization ON jobs (organization_id, started_at);
CREATE INDEX jobs_workspace ON jobs (workspace_id, id);
CREATE INDEX jobs_open ON jobs (created_at) WHERE ended_at IS NULL;
CREATE INDEX jobs_ended ON jobs (ended_at) WHERE ended_at IS NOT NULL;

-- The parts of a job's draft, in the order in which they are written. Each part is
-- written in one transaction.
CREATE TABLE job_parts (
    job_id TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    part   INTEGER NOT NULL,
    body   BLOB NOT NULL,
    PRIMARY KEY (job_id, part)
) STRICT;

-- The boards that a job creates. Until the job is complete, they are in the trash and
-- hidden there.
CREATE TABLE job_boards (
    job_id   TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    board_id TEXT NOT NULL REFERENCES boards (id) ON DELETE CASCADE,
    PRIMARY KEY (job_id, board_id)
) STRICT;
CREATE INDEX job_boards_board ON job_boards (board_id);
