package account

import (
	"fmt"
	"path/filepath"
	"testing"

	"cardwall/internal/board"
	"cardwall/internal/session"
	"cardwall/internal/store"
)

// Guesses from many networks are limited per account. Known networks and browsers are
// exempt. A client that forges its network is limited too.
func TestGuessesFromManyNetworksAreLimited(t *testing.T) {
	t.Parallel()
	db, err := store.Open(t.Context(), store.Options{Database: filepath.Join(t.TempDir(), "cardwall.db"), Migrate: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	callerAt := func(address, network string) board.Caller { return board.Caller{Address: address, Network: network} }
	attempts := session.NewAttempts(false)
	requireLimit := func(what string, limit int, guess func(i int) (guesser, string)) {
		t.Helper()
		for i := range limit + 1 {
			g, email := guess(i)
			if err := attempts.Spend(db, g.subjects(email)...); (err != nil) != (i == limit) {
				t.Fatalf("%s: guess %d: got error %v, want an error after %d guesses", what, i+1, err, limit)
			}
		}
	}
	botnet := func(i int) (guesser, string) {
		address := fmt.Sprintf("10.0.%d.%d", i/200, i%200)
		return guesser{caller: callerAt(address, address)}, "grace@example.com"
	}
	requireLimit("many networks", guessesAccount.Most, botnet)
	for what, g := range map[string]guesser{
		"a known network": {caller: callerAt("192.0.2.1", "192.0.2.1"), knownNetwork: true},
		"a known browser": {caller: board.Caller{Address: "10.0.0.1", Network: "10.0.0.1", Device: []byte("x")},
			knownDevice: true},
		"a session": {caller: board.Caller{Address: "10.0.0.1", Network: "10.0.0.1", SessionID: "ses_1"}},
	} {
		if err := attempts.Spend(db, g.subjects("grace@example.com")...); err != nil {
			t.Errorf("%s: got error %v, want none", what, err)
		}
	}
	if err := attempts.Spend(db,
		guesser{caller: callerAt("192.0.2.2", "192.0.2.2")}.subjects("grace@example.com")...); err == nil {
		t.Error("a guess from another new network: got no error, want one")
	}
	requireLimit("forged networks, many accounts", 10*guessesNetwork.Most, func(i int) (guesser, string) {
		return guesser{caller: callerAt("192.0.2.3", fmt.Sprintf("10.1.%d.%d via 192.0.2.3", i/200, i%200))},
			fmt.Sprintf("p%d@example.com", i)
	})
	requireLimit("empty networks, many accounts", 10*guessesNetwork.Most, func(i int) (guesser, string) {
		return guesser{caller: callerAt("192.0.2.4", " via 192.0.2.4")}, fmt.Sprintf("p%d@example.com", i)
	})
}
