-- +goose Up
-- The browsers that a person has signed in with. The secret of a browser's
-- device cookie is stored as a hash; several people may share a browser.
CREATE TABLE known_devices (
    id           TEXT NOT NULL PRIMARY KEY,
    user_id      TEXT NOT NULL REFERENCES users (id),
    hash         BLOB NOT NULL,
    network      TEXT NOT NULL,
    address      TEXT NOT NULL,
    user_agent   TEXT NOT NULL,
    announced    INTEGER NOT NULL,
    created_at   INTEGER NOT NULL,
    last_used_at INTEGER NOT NULL
) STRICT;
CREATE INDEX known_devices_user ON known_devices (user_id, hash);
CREATE INDEX known_devices_hash ON known_devices (hash);
CREATE INDEX known_devices_used ON known_devices (last_used_at);
