-- +goose Up
-- PostgreSQL finds what changed last on a few boards by the indexes that it has.
SET LOCAL lock_timeout = '10s';
