-- +goose Up
-- On PostgreSQL, tables that grow without end are held in parts from here on.
-- One file has no use for that.
SELECT 1;
