-- +goose Up
-- SQLite's index of words is made in 021.
SELECT 1;
