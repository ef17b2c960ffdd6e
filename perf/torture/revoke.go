package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"cardwall/perf/fleet"
	"cardwall/perf/postgres"
	"cardwall/perf/server"
)

// revokedWithin is how soon every server must refuse a revoked token.
const revokedWithin = time.Second

// revokeTokens repeatedly revokes a token that clients use on three servers, and measures how soon all servers refuse
// it.
func revokeTokens(t *trialRun) error {
	w, _, cluster, err := t.newFleet()
	if err != nil {
		return err
	}
	w.counted = false
	var slowest time.Duration
	if err := t.eachRound(func(round int) error {
		late, err := w.revokeToken(cluster, round)
		slowest = max(slowest, late)
		return err
	}); err != nil {
		return err
	}
	if slowest > revokedWithin {
		t.fail("a revoked token was accepted for %v, want at most %v", slowest.Round(time.Millisecond), revokedWithin)
	}
	t.note = fmt.Sprintf("refused by all servers within %.2f s of the revocation", slowest.Seconds())
	return nil
}

// revokeToken revokes a token that clients use, and returns how long after the revocation the latest accepted request
// started.
func (w *workload) revokeToken(cluster *postgres.Cluster, round int) (time.Duration, error) {
	name := fmt.Sprintf("revoked-%d", round)
	token, err := w.Servers[0].AddToken(w.ctx, name, "read")
	if err != nil {
		return 0, err
	}
	id, err := w.tokenID(name)
	if err != nil {
		return 0, err
	}
	u := &tokenUse{client: fleet.NewClient(token, 5*time.Second), refused: map[string]bool{}}
	using, end := context.WithCancel(w.ctx)
	var clients sync.WaitGroup
	for _, n := range w.Servers {
		clients.Go(func() {
			for fleet.Sleep(using, 5*time.Millisecond) == nil {
				u.send(w.ctx, n.Addr)
			}
		})
	}
	// Revoke the token at a random moment within a second. A server caches the token for almost as long.
	err = w.sleep(500*time.Millisecond + time.Duration(rand.Int64N(int64(revokedWithin))))
	if err == nil {
		_, err = w.Servers[round%len(w.Servers)].Run(w.ctx, "token", "revoke", id)
	}
	if err == nil {
		err = w.sleep(2 * revokedWithin)
	}
	end()
	clients.Wait()
	if err != nil {
		return 0, err
	}
	for _, n := range w.Servers {
		if !u.refused[n.Addr] {
			return 0, fmt.Errorf("%s still accepts a revoked token after %v", n.Addr, 2*revokedWithin)
		}
	}
	// The command returns some time after the revocation, so read the time of the revocation from the database.
	stamp, err := cluster.Query(w.ctx, "SELECT revoked_at FROM tokens WHERE id = '"+id+"'")
	if err != nil {
		return 0, err
	}
	ms, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("parse revoked_at of %s: %w", id, err)
	}
	late := u.latest.Sub(time.UnixMilli(ms))
	w.logf("the last of %d accepted requests started %v after the revocation", u.count, late.Round(time.Millisecond))
	return late, nil
}

// tokenUse sends requests with a token and records which were accepted.
type tokenUse struct {
	client  *fleet.Client
	mu      sync.Mutex
	latest  time.Time       // start of the latest accepted request
	count   int             // number of accepted requests
	refused map[string]bool // whether the latest request was refused, by server address
}

func (u *tokenUse) send(ctx context.Context, addr string) {
	begin := time.Now()
	err := u.client.Do(ctx, "GET", addr, "/boards?limit=1", "", nil, nil) // not /me, which reads the token from the database
	var status fleet.StatusError
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case err == nil:
		u.refused[addr] = false
		u.count++
		if begin.After(u.latest) {
			u.latest = begin
		}
	case errors.As(err, &status) && status.Code == 401:
		u.refused[addr] = true
	}
}

// tokenID returns the id of the token with the given name.
func (w *workload) tokenID(name string) (string, error) {
	out, err := w.Servers[0].Run(w.ctx, "token", "list", "--user", server.OwnerEmail)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(out) {
		if fields := strings.Fields(line); slices.Contains(fields, name) {
			return fields[0], nil
		}
	}
	return "", fmt.Errorf("token list does not contain %s: %s", name, out)
}
