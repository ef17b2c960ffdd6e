-- +goose Up
-- An account is created when its address is verified, so all existing addresses count
-- as verified.
ALTER TABLE users ADD COLUMN verified_at BIGINT;
ALTER TABLE users ADD COLUMN theme TEXT COLLATE "C" NOT NULL DEFAULT 'system';
ALTER TABLE users ADD COLUMN language TEXT COLLATE "C" NOT NULL DEFAULT 'en';
UPDATE users SET verified_at = created_at;

-- One row for each browser in which a person is signed in. The secret in the cookie is
-- stored only as a hash.
CREATE TABLE sessions (
    id           TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    user_id      TEXT COLLATE "C" NOT NULL REFERENCES users (id),
    hash         BYTEA NOT NULL,
    created_at   BIGINT NOT NULL,
    last_used_at BIGINT NOT NULL,
    recent_at    BIGINT NOT NULL,
    user_agent   TEXT COLLATE "C" NOT NULL,
    address      TEXT COLLATE "C" NOT NULL
);
CREATE UNIQUE INDEX sessions_hash ON sessions (hash);
CREATE INDEX sessions_user ON sessions (user_id, id);
CREATE INDEX sessions_used ON sessions (last_used_at);

-- Sign-ups whose address is not verified yet.
CREATE TABLE sign_ups (
    id            TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    email         TEXT COLLATE "C" NOT NULL,
    name          TEXT COLLATE "C" NOT NULL,
    password_hash TEXT COLLATE "C" NOT NULL,
    time_zone     TEXT COLLATE "C" NOT NULL,
    created_at    BIGINT NOT NULL
);
CREATE INDEX sign_ups_email ON sign_ups (email, created_at);
CREATE INDEX sign_ups_created ON sign_ups (created_at);

-- Hashes of the secrets in emails for sign-ups and password resets.
CREATE TABLE account_secrets (
    hash       BYTEA NOT NULL PRIMARY KEY,
    kind       TEXT COLLATE "C" NOT NULL,
    sign_up_id TEXT COLLATE "C" REFERENCES sign_ups (id) ON DELETE CASCADE,
    user_id    TEXT COLLATE "C" REFERENCES users (id) ON DELETE CASCADE,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX account_secrets_sign_up ON account_secrets (sign_up_id);
CREATE INDEX account_secrets_user ON account_secrets (user_id);
CREATE INDEX account_secrets_expires ON account_secrets (expires_at);

-- The public keys of people's passkeys.
CREATE TABLE passkeys (
    id            TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    user_id       TEXT COLLATE "C" NOT NULL REFERENCES users (id),
    name          TEXT COLLATE "C" NOT NULL,
    credential_id BYTEA NOT NULL,
    credential    TEXT COLLATE "C" NOT NULL,
    created_at    BIGINT NOT NULL,
    last_used_at  BIGINT
);
CREATE UNIQUE INDEX passkeys_credential ON passkeys (credential_id);
CREATE INDEX passkeys_user ON passkeys (user_id, id);

-- Challenges of passkey ceremonies in progress.
CREATE TABLE challenges (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    user_id    TEXT COLLATE "C" REFERENCES users (id) ON DELETE CASCADE,
    data       TEXT COLLATE "C" NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX challenges_user ON challenges (user_id);
CREATE INDEX challenges_expires ON challenges (expires_at);

-- People's identities at identity providers (OpenID Connect).
CREATE TABLE identities (
    issuer     TEXT COLLATE "C" NOT NULL,
    subject    TEXT COLLATE "C" NOT NULL,
    user_id    TEXT COLLATE "C" NOT NULL REFERENCES users (id),
    created_at BIGINT NOT NULL,
    PRIMARY KEY (issuer, subject)
);
CREATE INDEX identities_user ON identities (user_id);
