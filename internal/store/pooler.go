package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
)

// postgresPool is the connections to one PostgreSQL, or to a pooler in front of
// it such as pgbouncer, which gives each transaction another connection.
type postgresPool struct {
	metrics  *Metrics // of the primary; nil for a replica
	pool     *pgxpool.Pool
	db       *sql.DB
	preamble string // begins each transaction behind a pooler
	turns    *turns // of writes to one board
}

// connectPostgres connects, and finds out whether a pooler stands between. One
// keeps nothing of a session from one transaction to the next, so behind it no
// statement is prepared and each transaction says its settings itself, which
// costs it one round trip more.
func connectPostgres(ctx context.Context, address string) (*postgresPool, error) {
	cfg, err := postgresConfig(address)
	if err != nil {
		return nil, err
	}
	p, err := openPool(ctx, cfg)
	if refusesSettings(err) {
		return connectPooler(ctx, address)
	}
	if err != nil {
		return nil, fmt.Errorf("connect to PostgreSQL: %w", err)
	}
	pooled, err := p.behindPooler(ctx)
	if err != nil || pooled {
		err = errors.Join(err, p.close())
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("connect to PostgreSQL: %w", err)
	case pooled:
		return connectPooler(ctx, address)
	}
	return p, nil
}

// connectPooler connects to a pooler.
func connectPooler(ctx context.Context, address string) (*postgresPool, error) {
	cfg, err := postgresConfig(address)
	if err != nil {
		return nil, err
	}
	var preamble strings.Builder
	for _, name := range slices.Sorted(maps.Keys(cfg.ConnConfig.RuntimeParams)) {
		if name == "application_name" { // which poolers keep
			continue
		}
		if !strings.HasPrefix(name, "tcp_") { // the connection to PostgreSQL is the pooler's own
			fmt.Fprintf(&preamble, "SET LOCAL %s = '%s';", pgx.Identifier{name}.Sanitize(), strings.ReplaceAll(cfg.ConnConfig.RuntimeParams[name], "'", "''"))
		}
		delete(cfg.ConnConfig.RuntimeParams, name)
	}
	if !strings.Contains(address, "default_query_exec_mode") {
		cfg.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	}
	p, err := openPool(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("connect to PostgreSQL through a pooler: %w", err)
	}
	p.preamble = preamble.String()
	return p, nil
}

// postgresConfig is an address with our settings, where it does not say others.
func postgresConfig(address string) (*pgxpool.Config, error) {
	cfg, err := pgxpool.ParseConfig(address)
	if err != nil {
		return nil, errAddress
	}
	if !strings.Contains(address, "pool_max_conns") {
		cfg.MaxConns = postgresConns
	}
	for name, value := range map[string]string{
		"application_name": "cardwall",
		"lock_timeout":     postgresLockWait,
		"jit":              "off", // compiling costs more than any of our queries

		// What a server leaves behind that was cut off: it may have locked a board.
		"idle_in_transaction_session_timeout": postgresIdle,
		"tcp_keepalives_idle":                 "10",
		"tcp_keepalives_interval":             "5",
		"tcp_keepalives_count":                "3",
	} {
		if cfg.ConnConfig.RuntimeParams[name] == "" {
			cfg.ConnConfig.RuntimeParams[name] = value
		}
	}
	if !strings.Contains(address, "connect_timeout") {
		cfg.ConnConfig.ConnectTimeout = postgresConnect
	}
	cfg.ConnConfig.DialFunc = postgresDialer(postgresSilence).DialContext
	cfg.ConnConfig.OnNotice = noteUnreplicated
	cfg.PingTimeout = postgresConnect
	return cfg, nil
}

func openPool(ctx context.Context, cfg *pgxpool.Config) (*postgresPool, error) {
	p, err := lazyPool(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if err := p.db.PingContext(ctx); err != nil {
		return nil, errors.Join(err, p.close())
	}
	return p, nil
}

// lazyPool is a pool that connects when it is first asked for something.
func lazyPool(ctx context.Context, cfg *pgxpool.Config) (*postgresPool, error) {
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, err
	}
	p := &postgresPool{pool: pool, db: stdlib.OpenDBFromPool(pool), turns: newTurns()}
	p.db.SetMaxIdleConns(0) // the pool underneath keeps them
	return p, nil
}

func (p *postgresPool) close() error {
	err := p.db.Close()
	p.pool.Close()
	return err
}

// refusesSettings tells whether a server takes no settings when a connection
// begins: a pooler, since PostgreSQL has all that are asked for.
func refusesSettings(err error) bool {
	var p *pgconn.PgError
	return errors.As(err, &p) && p.Code == "08P01" && strings.Contains(p.Message, "startup parameter")
}

// behindPooler tells whether the process at the other end is not the one that
// was announced when the connection began.
func (p *postgresPool) behindPooler(ctx context.Context) (bool, error) {
	conn, err := p.pool.Acquire(ctx)
	if err != nil {
		return false, err
	}
	defer conn.Release()
	var pid uint32
	err = conn.QueryRow(ctx, "SELECT pg_backend_pid()", pgx.QueryExecModeSimpleProtocol).Scan(&pid)
	return err == nil && pid != conn.Conn().PgConn().PID(), err
}
