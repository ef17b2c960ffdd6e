-- +goose Up
-- Programs that registered themselves (RFC 7591). Programs that no one connects are
-- removed.
CREATE TABLE oauth_clients (
    id            TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    name          TEXT COLLATE "C" NOT NULL,
    uri           TEXT COLLATE "C" NOT NULL,
    redirect_uris TEXT COLLATE "C" NOT NULL,
    grant_types   TEXT COLLATE "C" NOT NULL,
    created_at    BIGINT NOT NULL,
    used_at       BIGINT
);
CREATE INDEX oauth_clients_used ON oauth_clients (used_at, created_at);

-- Additional data of tokens that were issued to programs by OAuth. The hashes of
-- refresh tokens are NULL if none were issued.
CREATE TABLE oauth_grants (
    token_id   TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES tokens (id) ON DELETE CASCADE,
    client_id  TEXT COLLATE "C" NOT NULL,
    host       TEXT COLLATE "C" NOT NULL,
    resource   TEXT COLLATE "C" NOT NULL,
    scopes     TEXT COLLATE "C" NOT NULL,
    family     BYTEA,
    refresh    BYTEA,
    expires_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX oauth_grants_family ON oauth_grants (family);
CREATE INDEX oauth_grants_expires ON oauth_grants (expires_at);

-- Authorization codes. A used code is kept for a day, so that a second use is detected.
CREATE TABLE oauth_codes (
    hash         BYTEA NOT NULL PRIMARY KEY,
    client_id    TEXT COLLATE "C" NOT NULL,
    client_name  TEXT COLLATE "C" NOT NULL,
    host         TEXT COLLATE "C" NOT NULL,
    resource     TEXT COLLATE "C" NOT NULL,
    scopes       TEXT COLLATE "C" NOT NULL,
    user_id      TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    workspace_id TEXT COLLATE "C" REFERENCES workspaces (id) ON DELETE CASCADE,
    refreshes    BIGINT NOT NULL,
    redirect_uri TEXT COLLATE "C" NOT NULL,
    challenge    TEXT COLLATE "C" NOT NULL,
    expires_at   BIGINT NOT NULL,
    token_id     TEXT COLLATE "C" REFERENCES tokens (id) ON DELETE CASCADE
);
CREATE INDEX oauth_codes_user ON oauth_codes (user_id);
CREATE INDEX oauth_codes_workspace ON oauth_codes (workspace_id);
CREATE INDEX oauth_codes_token ON oauth_codes (token_id);
CREATE INDEX oauth_codes_expires ON oauth_codes (expires_at);

-- Device authorization requests of programs without a browser (RFC 8628), by the hashes
-- of the device code and of the user code. user_id is the person who responded.
CREATE TABLE oauth_devices (
    id           TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    hash         BYTEA NOT NULL,
    user_code    BYTEA NOT NULL,
    client_id    TEXT COLLATE "C" NOT NULL,
    client_name  TEXT COLLATE "C" NOT NULL,
    host         TEXT COLLATE "C" NOT NULL,
    resource     TEXT COLLATE "C" NOT NULL,
    scopes       TEXT COLLATE "C" NOT NULL,
    refreshes    BIGINT NOT NULL,
    state        TEXT COLLATE "C" NOT NULL,
    user_id      TEXT COLLATE "C" REFERENCES users (id) ON DELETE CASCADE,
    workspace_id TEXT COLLATE "C" REFERENCES workspaces (id) ON DELETE CASCADE,
    pause        BIGINT NOT NULL,
    polled_at    BIGINT NOT NULL,
    expires_at   BIGINT NOT NULL,
    token_id     TEXT COLLATE "C" REFERENCES tokens (id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX oauth_devices_hash ON oauth_devices (hash);
CREATE UNIQUE INDEX oauth_devices_user_code ON oauth_devices (user_code);
CREATE INDEX oauth_devices_user ON oauth_devices (user_id);
CREATE INDEX oauth_devices_workspace ON oauth_devices (workspace_id);
CREATE INDEX oauth_devices_token ON oauth_devices (token_id);
CREATE INDEX oauth_devices_expires ON oauth_devices (expires_at);
