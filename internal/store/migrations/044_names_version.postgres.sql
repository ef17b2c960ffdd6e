-- +goose Up
SET LOCAL lock_timeout = '10s';

-- The setting names_version counts changes of people's names. Boards show these names,
-- but their versions don't change.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION users_name() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO settings (key, value) VALUES ('names_version', '1')
        ON CONFLICT (key) DO UPDATE SET value = CAST(CAST(settings.value AS BIGINT) + 1 AS TEXT);
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER users_name AFTER UPDATE OF name ON users FOR EACH ROW WHEN (NEW.name <> OLD.name) EXECUTE FUNCTION users_name();
