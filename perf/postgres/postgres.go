// Package postgres starts a temporary PostgreSQL cluster for bench and torture.
package postgres

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"cardwall/perf/process"
)

// Cluster is a running cluster. It has the default durability settings and stores its data in TMPDIR.
type Cluster struct {
	URL string // connects to the first database as a superuser

	stdin  io.Closer        // standard input of the script; closing it stops the cluster
	script *process.Process // tools/with-postgres, an ancestor of all processes of the cluster
}

// Start starts a cluster with tools/with-postgres. The working directory must be the root of the repository.
func Start(ctx context.Context) (*Cluster, error) {
	script, err := filepath.Abs(filepath.Join("tools", "with-postgres"))
	if err != nil {
		return nil, fmt.Errorf("find tools/with-postgres: %w", err)
	}
	cmd := exec.Command(script, "--durable", "sh", "-c", `echo "$CARDWALL_TEST_POSTGRES"; exec cat`)
	cmd.Stderr = os.Stderr
	// If this program exits first, the script removes the cluster.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start PostgreSQL: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start PostgreSQL: %w", err)
	}
	p, err := process.Start(cmd, "")
	if err != nil {
		return nil, err
	}
	c := &Cluster{stdin: stdin, script: p}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start PostgreSQL; see the output above: %w", err), c.Stop())
	}
	c.URL = strings.TrimSpace(line)
	return c, ctx.Err()
}

// Stop stops the cluster and waits until its folders have been removed.
func (c *Cluster) Stop() error {
	err := c.stdin.Close()
	select {
	case <-c.script.Done():
		return err
	case <-time.After(time.Minute):
		return errors.Join(err, c.script.Stop(10*time.Second))
	}
}

// Socket returns the path of the cluster's Unix socket.
func (c *Cluster) Socket() (string, error) {
	config, err := pgx.ParseConfig(c.URL)
	if err != nil {
		return "", fmt.Errorf("parse the address of PostgreSQL: %w", err)
	}
	return filepath.Join(config.Host, fmt.Sprintf(".s.PGSQL.%d", config.Port)), nil
}

// Exec runs statements on a database of the cluster.
func (c *Cluster) Exec(ctx context.Context, database string, statements ...string) error {
	conn, err := pgx.Connect(ctx, database)
	if err != nil {
		return fmt.Errorf("connect to PostgreSQL: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	for _, text := range statements {
		if _, err := conn.Exec(ctx, text); err != nil {
			return fmt.Errorf("%.60s: %w", text, err)
		}
	}
	return nil
}

// Query runs a query on the first database and returns the rows as text: one line per row, with | between the values.
func (c *Cluster) Query(ctx context.Context, text string) (string, error) {
	conn, err := pgx.Connect(ctx, c.URL)
	if err != nil {
		return "", fmt.Errorf("connect to PostgreSQL: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	results, err := conn.PgConn().Exec(ctx, text).ReadAll()
	if err != nil {
		return "", fmt.Errorf("%.60s: %w", text, err)
	}
	var lines []string
	for _, result := range results {
		for _, row := range result.Rows {
			var cells []string
			for _, cell := range row {
				cells = append(cells, string(cell))
			}
			lines = append(lines, strings.Join(cells, "|"))
		}
	}
	return strings.Join(lines, "\n"), nil
}

// CreateDatabase creates a database as a copy of a template and returns its address.
func (c *Cluster) CreateDatabase(ctx context.Context, name, template string) (string, error) {
	address, err := url.Parse(c.URL)
	if err != nil {
		return "", fmt.Errorf("parse the address of PostgreSQL: %w", err)
	}
	address.Path = "/" + name
	return address.String(), c.Exec(ctx, c.URL, "CREATE DATABASE "+name+" TEMPLATE "+template)
}

// CPU returns the processor time of all processes of the cluster.
func (c *Cluster) CPU() (time.Duration, error) { return process.TreeCPU(c.script.PID()) }
