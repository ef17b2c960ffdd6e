-- +goose Up
-- Invitations to a workspace. An address has at most one open invitation per workspace.
-- An expired invitation stays open until it is renewed or withdrawn.
CREATE TABLE invitations (
    id           TEXT NOT NULL PRIMARY KEY,
    workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    email        TEXT NOT NULL,
    role         TEXT NOT NULL,
    invited_by   TEXT REFERENCES users (id),
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER NOT NULL,
    lettered_at  INTEGER,
    accepted_at  INTEGER,
    accepted_by  TEXT REFERENCES users (id),
    withdrawn_at INTEGER
) STRICT;
CREATE INDEX invitations_workspace ON invitations (workspace_id, id);
CREATE INDEX invitations_email ON invitations (email);
CREATE UNIQUE INDEX invitations_open ON invitations (workspace_id, email) WHERE accepted_at IS NULL AND withdrawn_at IS NULL;

-- Hashes of the tokens in the emails of an invitation: one for each attempt to send,
-- because any of the attempts may have arrived.
CREATE TABLE invitation_tokens (
    hash          BLOB NOT NULL PRIMARY KEY,
    invitation_id TEXT NOT NULL REFERENCES invitations (id) ON DELETE CASCADE
) STRICT;
CREATE INDEX invitation_tokens_invitation ON invitation_tokens (invitation_id);

-- The queue of emails, without their text. An email is composed when it is sent,
-- together with the secret in its link, so the secret is never stored.
CREATE TABLE letters (
    id         TEXT NOT NULL PRIMARY KEY,
    kind       TEXT NOT NULL,
    about      TEXT NOT NULL,
    attempts   INTEGER NOT NULL DEFAULT 0,
    due_at     INTEGER NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX letters_about ON letters (kind, about);
CREATE INDEX letters_due ON letters (due_at, id);
