-- +goose Up
-- Programs that registered themselves (RFC 7591). Programs that no one connects are
-- removed.
CREATE TABLE oauth_clients (
    id            TEXT NOT NULL PRIMARY KEY,
    name          TEXT NOT NULL,
    uri           TEXT NOT NULL,
    redirect_uris TEXT NOT NULL,
    grant_types   TEXT NOT NULL,
    created_at    INTEGER NOT NULL,
    used_at       INTEGER
) STRICT;
CREATE INDEX oauth_clients_used ON oauth_clients (used_at, created_at);

-- Additional data of tokens that were issued to programs by OAuth. The hashes of
-- refresh tokens are NULL if none were issued.
CREATE TABLE oauth_grants (
    token_id   TEXT NOT NULL PRIMARY KEY REFERENCES tokens (id) ON DELETE CASCADE,
    client_id  TEXT NOT NULL,
    host       TEXT NOT NULL,
    resource   TEXT NOT NULL,
    scopes     TEXT NOT NULL,
    family     BLOB,
    refresh    BLOB,
    expires_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX oauth_grants_family ON oauth_grants (family);
CREATE INDEX oauth_grants_expires ON oauth_grants (expires_at);

-- Authorization codes. A used code is kept for a day, so that a second use is detected.
CREATE TABLE oauth_codes (
    hash         BLOB NOT NULL PRIMARY KEY,
    client_id    TEXT NOT NULL,
    client_name  TEXT NOT NULL,
    host         TEXT NOT NULL,
    resource     TEXT NOT NULL,
    scopes       TEXT NOT NULL,
    user_id      TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    workspace_id TEXT REFERENCES workspaces (id) ON DELETE CASCADE,
    refreshes    INTEGER NOT NULL,
    redirect_uri TEXT NOT NULL,
    challenge    TEXT NOT NULL,
    expires_at   INTEGER NOT NULL,
    token_id     TEXT REFERENCES tokens (id) ON DELETE CASCADE
) STRICT;
CREATE INDEX oauth_codes_user ON oauth_codes (user_id);
CREATE INDEX oauth_codes_workspace ON oauth_codes (workspace_id);
CREATE INDEX oauth_codes_token ON oauth_codes (token_id);
CREATE INDEX oauth_codes_expires ON oauth_codes (expires_at);

-- Device authorization requests of programs without a browser (RFC 8628), by the hashes
-- of the device code and of the user code. user_id is the person who responded.
CREATE TABLE oauth_devices (
    id           TEXT NOT NULL PRIMARY KEY,
    hash         BLOB NOT NULL,
    user_code    BLOB NOT NULL,
    client_id    TEXT NOT NULL,
    client_name  TEXT NOT NULL,
    host         TEXT NOT NULL,
    resource     TEXT NOT NULL,
    scopes       TEXT NOT NULL,
    refreshes    INTEGER NOT NULL,
    state        TEXT NOT NULL,
    user_id      TEXT REFERENCES users (id) ON DELETE CASCADE,
    workspace_id TEXT REFERENCES workspaces (id) ON DELETE CASCADE,
    pause        INTEGER NOT NULL,
    polled_at    INTEGER NOT NULL,
    expires_at   INTEGER NOT NULL,
    token_id     TEXT REFERENCES tokens (id) ON DELETE CASCADE
) STRICT;
CREATE UNIQUE INDEX oauth_devices_hash ON oauth_devices (hash);
CREATE UNIQUE INDEX oauth_devices_user_code ON oauth_devices (user_code);
CREATE INDEX oauth_devices_user ON oauth_devices (user_id);
CREATE INDEX oauth_devices_workspace ON oauth_devices (workspace_id);
CREATE INDEX oauth_devices_token ON oauth_devices (token_id);
CREATE INDEX oauth_devices_expires ON oauth_devices (expires_at);
