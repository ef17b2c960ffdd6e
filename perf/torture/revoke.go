package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"cardwall/perf/fleet"
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
	err = t.eachRound(func(round int) error {
		name := fmt.Sprintf("revoked-%d", round)
		token, err := w.Servers[0].AddToken(t.ctx, name, "read")
		if err != nil {
			return err
		}
		id, err := w.tokenID(name)
		if err != nil {
			return err
		}
		client := fleet.NewClient(token, 5*time.Second)
		var (
			clients sync.WaitGroup
			mu      sync.Mutex
			latest  time.Time           // start of the latest accepted request
			count   int                 // number of accepted requests
			refused = map[string]bool{} // whether the latest request was refused, by server address
		)
		end := make(chan struct{})
		for _, n := range w.Servers {
			clients.Go(func() {
				for {
					select {
					case <-end:
						return
					default:
					}
					begin := time.Now()
					err := client.Do(t.ctx, "GET", n.Addr, "/boards?limit=1", "", nil, nil) // not /me, which reads the token from the database
					var status fleet.StatusError
					mu.Lock()
					switch {
					case err == nil:
						refused[n.Addr] = false
						count++
						if begin.After(latest) {
							latest = begin
						}
					case errors.As(err, &status) && status.Code == 401:
						refused[n.Addr] = true
					}
					mu.Unlock()
					time.Sleep(5 * time.Millisecond)
				}
			})
		}
		// Revoke the token at a random moment within a second. A server caches the token for almost as long.
		err = t.sleep(500*time.Millisecond + time.Duration(rand.Int64N(int64(revokedWithin))))
		if err == nil {
			_, err = w.Servers[round%len(w.Servers)].Run(t.ctx, "token", "revoke", id)
		}
		if err == nil {
			err = t.sleep(2 * revokedWithin)
		}
		close(end)
		clients.Wait()
		if err != nil {
			return err
		}
		for _, n := range w.Servers {
			if !refused[n.Addr] {
				return fmt.Errorf("%s still accepts a revoked token after %v", n.Addr, 2*revokedWithin)
			}
		}
		// The command returns some time after the revocation, so read the time of the revocation from the database.
		stamp, err := cluster.Query(t.ctx, "SELECT revoked_at FROM tokens WHERE id = '"+id+"'")
		if err != nil {
			return err
		}
		ms, err := strconv.ParseInt(stamp, 10, 64)
		if err != nil {
			return fmt.Errorf("parse revoked_at of %s: %w", id, err)
		}
		t.logf("the last of %[2]d accepted requests started %[1]v after the revocation",
			latest.Sub(time.UnixMilli(ms)).Round(time.Millisecond), count)
		slowest = max(slowest, latest.Sub(time.UnixMilli(ms)))
		return nil
	})
	if err != nil {
		return err
	}
	if slowest > revokedWithin {
		t.fail("a revoked token was accepted for %v, want at most %v", slowest.Round(time.Millisecond), revokedWithin)
	}
	t.note = fmt.Sprintf("refused by all servers within %.2f s of the revocation", slowest.Seconds())
	return nil
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
