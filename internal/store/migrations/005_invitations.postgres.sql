-- +goose Up
-- Invitations to a workspace. An address has at most one open invitation per workspace.
-- An expired invitation stays open until it is renewed or withdrawn.
CREATE TABLE invitations (
    id           TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    workspace_id TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    email        TEXT COLLATE "C" NOT NULL,
    role         TEXT COLLATE "C" NOT NULL,
    invited_by   TEXT COLLATE "C" REFERENCES users (id),
    created_at   BIGINT NOT NULL,
    expires_at   BIGINT NOT NULL,
    lettered_at  BIGINT,
    accepted_at  BIGINT,
    accepted_by  TEXT COLLATE "C" REFERENCES users (id),
    withdrawn_at BIGINT
);
CREATE INDEX invitations_workspace ON invitations (workspace_id, id);
CREATE INDEX invitations_email ON invitations (email);
CREATE UNIQUE INDEX invitations_open ON invitations (workspace_id, email) WHERE accepted_at IS NULL AND withdrawn_at IS NULL;

-- Hashes of the tokens in the emails of an invitation: one for each attempt to send,
-- because any of the attempts may have arrived.
CREATE TABLE invitation_tokens (
    hash          BYTEA NOT NULL PRIMARY KEY,
    invitation_id TEXT COLLATE "C" NOT NULL REFERENCES invitations (id) ON DELETE CASCADE
);
CREATE INDEX invitation_tokens_invitation ON invitation_tokens (invitation_id);

-- The queue of emails, without their text. An email is composed when it is sent,
-- together with the secret in its link, so the secret is never stored.
CREATE TABLE letters (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    kind       TEXT COLLATE "C" NOT NULL,
    about      TEXT COLLATE "C" NOT NULL,
    attempts   BIGINT NOT NULL DEFAULT 0,
    due_at     BIGINT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX letters_about ON letters (kind, about);
CREATE INDEX letters_due ON letters (due_at, id);
