package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"time"
)

// revokedWithin is how soon a revoked token must be refused everywhere.
const revokedWithin = time.Second

// revokeTokens revokes a token that is in use on three servers, and sees when each refuses it.
func revokeTokens(t *torment) error {
	s, _, database, err := t.newFleet()
	if err != nil {
		return err
	}
	s.counted = false
	var slowest time.Duration
	err = t.each(func(round int) error {
		name := fmt.Sprintf("doomed-%d", round)
		token, err := s.nodes[0].command(t.ctx, "token", "add", "--user", ownerEmail, "--name", name, "--scopes", "read")
		if err != nil {
			return err
		}
		id, err := s.tokenID(name)
		if err != nil {
			return err
		}
		users := newClient(token, 5*time.Second)
		var (
			all     sync.WaitGroup
			mu      sync.Mutex
			latest  time.Time // at which a request was begun that was let in
			let     int       // requests that were let in
			refused = map[string]bool{}
		)
		end := make(chan struct{})
		for _, n := range s.nodes {
			all.Go(func() {
				for {
					select {
					case <-end:
						return
					default:
					}
					begun := time.Now()
					err := users.do(t.ctx, "GET", n.addr, "/boards?limit=1", "", nil, nil) // /me reads its token anew
					var status statusError
					mu.Lock()
					switch {
					case err == nil:
						refused[n.addr] = false
						let++
						if begun.After(latest) {
							latest = begun
						}
					case errors.As(err, &status) && status.code == 401:
						refused[n.addr] = true
					}
					mu.Unlock()
					time.Sleep(5 * time.Millisecond)
				}
			})
		}
		// At any moment of the time for which a server believes what it has read.
		err = t.rest(500*time.Millisecond + time.Duration(rand.Int64N(int64(revokedWithin))))
		if err == nil {
			_, err = s.nodes[round%len(s.nodes)].command(t.ctx, "token", "revoke", id)
		}
		if err == nil {
			err = t.rest(2 * revokedWithin)
		}
		close(end)
		all.Wait()
		if err != nil {
			return err
		}
		for _, n := range s.nodes {
			if !refused[n.addr] {
				return fmt.Errorf("%s lets a revoked token in after %v", n.addr, 2*revokedWithin)
			}
		}
		// The command ends later than what it did; the database has when that was.
		stamp, err := t.query(database, "SELECT revoked_at FROM tokens WHERE id = '"+id+"'")
		if err != nil {
			return err
		}
		ms, err := strconv.ParseInt(stamp, 10, 64)
		if err != nil {
			return fmt.Errorf("when %s was revoked: %w", id, err)
		}
		t.say("the last request that was let in began %v after the revocation, of %d",
			latest.Sub(time.UnixMilli(ms)).Round(time.Millisecond), let)
		slowest = max(slowest, latest.Sub(time.UnixMilli(ms)))
		return nil
	})
	if err != nil {
		return err
	}
	if slowest > revokedWithin {
		t.fault("a revoked token was let in %v later", slowest.Round(time.Millisecond))
	}
	t.note = "refused everywhere after " + strconv.FormatFloat(slowest.Seconds(), 'f', 2, 64) + " s at the latest, from the " +
		"stamp of the revocation"
	return nil
}

// tokenID finds the id of a token by its name.
func (s *site) tokenID(name string) (string, error) {
	said, err := s.nodes[0].command(s.ctx, "token", "list", "--user", ownerEmail)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(said) {
		words := strings.Fields(line)
		for _, w := range words {
			if w == name {
				return words[0], nil
			}
		}
	}
	return "", fmt.Errorf("token list does not show %s: %s", name, said)
}
