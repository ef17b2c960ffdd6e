package sqldb

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

// postgresPool holds the connections to one PostgreSQL server, or to a pooler in
// front of it such as pgbouncer, which gives each transaction another connection.
type postgresPool struct {
	metrics  *Metrics // of the primary; nil for a replica
	pool     *pgxpool.Pool
	db       *sql.DB
	preamble []string // settings that begin each transaction behind a pooler
	queues   *writeQueues
}

// connectPostgres connects, and detects a pooler in between. A pooler keeps no
// session state between transactions, so behind one no statement is prepared and
// each transaction begins with its settings.
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
	var preamble []string
	for _, name := range slices.Sorted(maps.Keys(cfg.ConnConfig.RuntimeParams)) {
		if name == "application_name" { // poolers keep this one
			continue
		}
		if !strings.HasPrefix(name, "tcp_") { // the connection to PostgreSQL is the pooler's own
			preamble = append(preamble, fmt.Sprintf("SET LOCAL %s = '%s'", pgx.Identifier{name}.Sanitize(),
				strings.ReplaceAll(cfg.ConnConfig.RuntimeParams[name], "'", "''")))
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
	p.preamble = preamble
	return p, nil
}

// postgresConfig parses an address and adds our settings where it has none.
func postgresConfig(address string) (*pgxpool.Config, error) {
	cfg, err := pgxpool.ParseConfig(address)
	if err != nil {
		return nil, ErrAddress
	}
	if !strings.Contains(address, "pool_max_conns") {
		cfg.MaxConns = postgresConns
	}
	for name, value := range map[string]string{
		"application_name": "cardwall",
		"lock_timeout":     postgresLockWait,
		"jit":              "off", // compiling costs more than any of the queries

		// They end the transaction of a server that was cut off and may hold a lock.
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

// lazyPool returns a pool that connects on first use.
func lazyPool(ctx context.Context, cfg *pgxpool.Config) (*postgresPool, error) {
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, err
	}
	p := &postgresPool{pool: pool, db: sql.OpenDB(pipelining{stdlib.GetPoolConnector(pool)}), queues: newWriteQueues()}
	p.db.SetMaxIdleConns(0) // the pgx pool keeps them
	return p, nil
}

func (p *postgresPool) close() error {
	err := p.db.Close()
	p.pool.Close()
	return err
}

// refusesSettings reports whether a server refuses settings in the startup
// message. Only a pooler does: PostgreSQL has all of them.
func refusesSettings(err error) bool {
	var p *pgconn.PgError
	return errors.As(err, &p) && p.Code == "08P01" && strings.Contains(p.Message, "startup parameter")
}

// behindPooler reports whether the backend process differs from the one that the
// startup message announced.
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
