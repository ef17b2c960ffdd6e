-- +goose Up
-- Who was asked into a workspace. An address has one open invitation at most;
-- one whose time is over stays open until it is renewed or withdrawn.
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

-- The fingerprints of the tokens in the letters of an invitation: one for each
-- attempt to send, since nobody knows which attempt arrived.
CREATE TABLE invitation_tokens (
    hash          BLOB NOT NULL PRIMARY KEY,
    invitation_id TEXT NOT NULL REFERENCES invitations (id) ON DELETE CASCADE
) STRICT;
CREATE INDEX invitation_tokens_invitation ON invitation_tokens (invitation_id);

-- Letters that wait to be sent, without their text: it is written when one is
-- sent, and with it the secret of its link, which so is never at rest.
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
