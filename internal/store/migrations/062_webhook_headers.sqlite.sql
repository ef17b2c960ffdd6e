-- +goose Up
-- Headers that are sent with each delivery: sealed with their values, and their names, separated by
-- spaces. Servers of the version before send deliveries without them.
ALTER TABLE webhooks ADD COLUMN headers BLOB;
ALTER TABLE webhooks ADD COLUMN header_names TEXT NOT NULL DEFAULT '';
