-- +goose Up
-- From this migration on, tables that grow without limit are partitioned on PostgreSQL.
-- SQLite has no partitions.
SELECT 1;
