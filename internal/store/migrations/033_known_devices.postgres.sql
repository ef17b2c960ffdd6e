-- +goose Up
-- The browsers that a person has signed in with. The secret of a browser's
-- device cookie is stored as a hash; several people may share a browser.
CREATE TABLE known_devices (
    id           TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    user_id      TEXT COLLATE "C" NOT NULL REFERENCES users (id),
    hash         BYTEA NOT NULL,
    network      TEXT COLLATE "C" NOT NULL,
    address      TEXT COLLATE "C" NOT NULL,
    user_agent   TEXT COLLATE "C" NOT NULL,
    announced    BIGINT NOT NULL,
    created_at   BIGINT NOT NULL,
    last_used_at BIGINT NOT NULL
);
CREATE INDEX known_devices_user ON known_devices (user_id, hash);
CREATE INDEX known_devices_hash ON known_devices (hash);
CREATE INDEX known_devices_used ON known_devices (last_used_at);
