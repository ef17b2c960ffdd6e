-- +goose Up
-- Pictures of people. avatar is the version of the picture; NULL if the person has none.
ALTER TABLE users ADD COLUMN avatar TEXT;

CREATE TABLE avatars (
    user_id    TEXT NOT NULL PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    media_type TEXT NOT NULL,
    picture    BLOB NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

-- Boards show the pictures of people, but their versions don't change with them. See the
-- trigger users_name.
-- +goose StatementBegin
CREATE TRIGGER users_avatar AFTER UPDATE OF avatar ON users WHEN NEW.avatar IS NOT OLD.avatar BEGIN
    INSERT INTO settings (key, value) VALUES ('names_version', '1')
        ON CONFLICT (key) DO UPDATE SET value = CAST(CAST(settings.value AS INTEGER) + 1 AS TEXT);
END;
-- +goose StatementEnd
