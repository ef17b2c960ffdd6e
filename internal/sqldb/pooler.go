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

// postgresPool holds the connections to one PostgreSQL server, or to a pooler in front of
// it, such as PgBouncer. A pooler may run each transaction on a different server
// connection.
type postgresPool struct {
	metrics  *Metrics // metrics of the primary; nil for a replica
	pool     *pgxpool.Pool
	db       *sql.DB
	preamble []string // statements that apply the settings of a transaction if there is a pooler
	queues   *writeQueues
}

// connectPostgres connects to PostgreSQL and detects whether the connection goes
// through a pooler. A pooler keeps no session state between transactions. With a
// pooler, the pool keeps no prepared statements unless the address asks for them, and
// each transaction begins by applying its settings.
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
		if name == "application_name" { // poolers pass this setting on
			continue
		}
		if !strings.HasPrefix(name, "tcp_") { // the TCP connection to PostgreSQL belongs to the pooler
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

// postgresConfig parses an address and adds default settings that the address does not
// contain.
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
		"jit":              "off", // compiling would take longer than any of the queries

		// These timeouts end the transaction of a Cardwall server that has lost its
		// network and may hold a lock.
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
	p.db.SetMaxIdleConns(0) // the pgx pool keeps idle connections
	return p, nil
}

func (p *postgresPool) close() error {
	err := p.db.Close()
	p.pool.Close()
	return err
}

// refusesSettings reports whether err means that the server rejects settings in the
// startup message. Only a pooler does that, because PostgreSQL supports all these
// settings.
func refusesSettings(err error) bool {
	var p *pgconn.PgError
	return errors.As(err, &p) && p.Code == "08P01" && strings.Contains(p.Message, "startup parameter")
}

// behindPooler reports whether the connection goes through a pooler. It compares the id
// of the backend process with the id that was announced when the connection was opened.
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
