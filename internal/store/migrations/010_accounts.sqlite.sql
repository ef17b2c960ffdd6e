-- +goose Up
-- An account is created when its address is verified, so all existing addresses count
-- as verified.
ALTER TABLE users ADD COLUMN verified_at INTEGER;
ALTER TABLE users ADD COLUMN theme TEXT NOT NULL DEFAULT 'system';
ALTER TABLE users ADD COLUMN language TEXT NOT NULL DEFAULT 'en';
UPDATE users SET verified_at = created_at;

-- One row for each browser in which a person is signed in. The secret in the cookie is
-- stored only as a hash.
CREATE TABLE sessions (
    id           TEXT NOT NULL PRIMARY KEY,
    user_id      TEXT NOT NULL REFERENCES users (id),
    hash         BLOB NOT NULL,
    created_at   INTEGER NOT NULL,
    last_used_at INTEGER NOT NULL,
    recent_at    INTEGER NOT NULL,
    user_agent   TEXT NOT NULL,
    address      TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX sessions_hash ON sessions (hash);
CREATE INDEX sessions_user ON sessions (user_id, id);
CREATE INDEX sessions_used ON sessions (last_used_at);

-- Sign-ups whose address is not verified yet.
CREATE TABLE sign_ups (
    id            TEXT NOT NULL PRIMARY KEY,
    email         TEXT NOT NULL,
    name          TEXT NOT NULL,
    password_hash TEXT NOT NULL,
    time_zone     TEXT NOT NULL,
    created_at    INTEGER NOT NULL
) STRICT;
CREATE INDEX sign_ups_email ON sign_ups (email, created_at);
CREATE INDEX sign_ups_created ON sign_ups (created_at);

-- Hashes of the secrets in emails for sign-ups and password resets.
CREATE TABLE account_secrets (
    hash       BLOB NOT NULL PRIMARY KEY,
    kind       TEXT NOT NULL,
    sign_up_id TEXT REFERENCES sign_ups (id) ON DELETE CASCADE,
    user_id    TEXT REFERENCES users (id) ON DELETE CASCADE,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX account_secrets_sign_up ON account_secrets (sign_up_id);
CREATE INDEX account_secrets_user ON account_secrets (user_id);
CREATE INDEX account_secrets_expires ON account_secrets (expires_at);

-- The public keys of people's passkeys.
CREATE TABLE passkeys (
    id            TEXT NOT NULL PRIMARY KEY,
    user_id       TEXT NOT NULL REFERENCES users (id),
    name          TEXT NOT NULL,
    credential_id BLOB NOT NULL,
    credential    TEXT NOT NULL,
    created_at    INTEGER NOT NULL,
    last_used_at  INTEGER
) STRICT;
CREATE UNIQUE INDEX passkeys_credential ON passkeys (credential_id);
CREATE INDEX passkeys_user ON passkeys (user_id, id);

-- Challenges of passkey ceremonies in progress.
CREATE TABLE challenges (
    id         TEXT NOT NULL PRIMARY KEY,
    user_id    TEXT REFERENCES users (id) ON DELETE CASCADE,
    data       TEXT NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX challenges_user ON challenges (user_id);
CREATE INDEX challenges_expires ON challenges (expires_at);

-- People's identities at identity providers (OpenID Connect).
CREATE TABLE identities (
    issuer     TEXT NOT NULL,
    subject    TEXT NOT NULL,
    user_id    TEXT NOT NULL REFERENCES users (id),
    created_at INTEGER NOT NULL,
    PRIMARY KEY (issuer, subject)
) STRICT;
CREATE INDEX identities_user ON identities (user_id);
