-- +goose Up
SET LOCAL lock_timeout = '10s';

-- Pictures of people. avatar is the version of the picture; NULL if the person has none.
ALTER TABLE users ADD COLUMN avatar TEXT COLLATE "C";

CREATE TABLE avatars (
    user_id    TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    media_type TEXT COLLATE "C" NOT NULL,
    picture    BYTEA NOT NULL,
    created_at BIGINT NOT NULL
);

-- Boards show the pictures of people, but their versions don't change with them.
CREATE TRIGGER users_avatar AFTER UPDATE OF avatar ON users
    FOR EACH ROW WHEN (NEW.avatar IS DISTINCT FROM OLD.avatar) EXECUTE FUNCTION users_name();
