// Package dbtool works on whole databases: it backs them up, restores them, moves
// them from SQLite to PostgreSQL, examines and repairs them, and seals their
// secrets under another key. Servers may use the same database meanwhile, except
// during Restore, which refuses a database in use.
package dbtool
