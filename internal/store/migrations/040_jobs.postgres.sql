-- +goose Up
SET LOCAL lock_timeout = '10s';

-- Long work: imports, copies of large boards and boards from large templates.
CREATE TABLE jobs (
    id              TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    kind            TEXT COLLATE "C" NOT NULL,
    state           TEXT COLLATE "C" NOT NULL,
    owner_id        TEXT COLLATE "C" NOT NULL REFERENCES users (id),
    organization_id TEXT COLLATE "C" NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    workspace_id    TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    name            TEXT COLLATE "C" NOT NULL,
    caller          TEXT COLLATE "C" NOT NULL,
    input           TEXT COLLATE "C" NOT NULL,
    result          TEXT COLLATE "C",
    fault           TEXT COLLATE "C",
    parts           BIGINT,
    written         BIGINT NOT NULL DEFAULT 0,
    done            BIGINT NOT NULL DEFAULT 0,
    total           BIGINT NOT NULL DEFAULT 0,
    tries           BIGINT NOT NULL DEFAULT 0,
    holder          TEXT COLLATE "C" NOT NULL DEFAULT '',
    until           BIGINT NOT NULL DEFAULT 0,
    created_at      BIGINT NOT NULL,
    started_at      BIGINT,
    ended_at        BIGINT
);
CREATE INDEX jobs_owner ON jobs (owner_id, id);
CREATE INDEX jobs_organization ON jobs (organization_id, started_at);
CREATE INDEX jobs_workspace ON jobs (workspace_id, id);
CREATE INDEX jobs_open ON jobs (created_at) WHERE ended_at IS NULL;
CREATE INDEX jobs_ended ON jobs (ended_at) WHERE ended_at IS NOT NULL;

-- The parts of a job's draft, in the order in which they are written. Each part is
-- written in one transaction.
CREATE TABLE job_parts (
    job_id TEXT COLLATE "C" NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    part   BIGINT NOT NULL,
    body   BYTEA NOT NULL,
    PRIMARY KEY (job_id, part)
);

-- The boards that a job creates. Until the job is complete, they are in the trash and
-- hidden there.
CREATE TABLE job_boards (
    job_id   TEXT COLLATE "C" NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    board_id TEXT COLLATE "C" NOT NULL REFERENCES boards (id) ON DELETE CASCADE,
    PRIMARY KEY (job_id, board_id)
);
CREATE INDEX job_boards_board ON job_boards (board_id);
