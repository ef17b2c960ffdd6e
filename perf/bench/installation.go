package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"cardwall/perf/server"
)

// installation is the program under test with a user, a workspace and a token.
type installation struct {
	server.Server
	owner     string // the user's id
	workspace string
	token     string
}

// newInstallation creates an installation in dir. If database is empty, it uses SQLite in dir.
func newInstallation(ctx context.Context, binary, dir, database string) (*installation, error) {
	binary, err := server.FindBinary(binary)
	if err != nil {
		return nil, err
	}
	n := &installation{Server: server.Server{
		Binary: binary, Data: filepath.Join(dir, "data"), Database: database, LogPath: filepath.Join(dir, "server.log"),
		Env: []string{"CARDWALL_MAX_OPEN_CARDS=20000"}, // some boards exceed the default
	}}
	if err := os.Mkdir(n.Data, 0o700); err != nil {
		return nil, fmt.Errorf("create data folder: %w", err)
	}
	if n.owner, err = n.AddOwner(ctx); err != nil {
		return nil, err
	}
	if n.workspace, err = n.AddWorkspace(ctx, "Bench"); err != nil {
		return nil, err
	}
	if n.token, err = n.AddToken(ctx, "bench", "read,write,admin"); err != nil {
		return nil, err
	}
	return n, nil
}

// another returns another server with the same data, without starting it.
func (n *installation) another() *installation {
	copied := *n
	copied.Addr, copied.Process = "", nil
	return &copied
}
