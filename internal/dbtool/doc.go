// Package dbtool works on whole databases. It backs them up, restores them, moves them
// from SQLite to PostgreSQL, checks and repairs them, and re-seals their secrets under
// another key. Servers may keep running during all operations except Restore, which
// refuses a database that is in use. During Relocate, the servers of the SQLite file can
// only read.
package dbtool
