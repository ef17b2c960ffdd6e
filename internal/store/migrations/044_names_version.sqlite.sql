-- +goose Up
-- The setting names_version counts changes of people's names. Boards show these names,
-- but their versions don't change.
-- +goose StatementBegin
CREATE TRIGGER users_name AFTER UPDATE OF name ON users WHEN NEW.name <> OLD.name BEGIN
    INSERT INTO settings (key, value) VALUES ('names_version', '1')
        ON CONFLICT (key) DO UPDATE SET value = CAST(CAST(settings.value AS INTEGER) + 1 AS TEXT);
END;
-- +goose StatementEnd
