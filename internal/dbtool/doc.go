// Package dbtool works on whole databases: it backs them up, restores them, moves
// them from SQLite to PostgreSQL, examines and repairs them, and seals their secrets
// under another key. All of it runs beside servers that use the same database,
// except Restore, which refuses a database in use.
package dbtool
