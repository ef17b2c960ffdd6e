package account

import (
	"fmt"
	"path/filepath"
	"testing"

	"cardwall/internal/board"
	"cardwall/internal/session"
	"cardwall/internal/store"
)

// Guesses that come from many networks are limited per account. Known networks and
// browsers are exempt. A client that invents networks is limited too.
func TestGuessesOfManyNetworksAreBounded(t *testing.T) {
	t.Parallel()
	db, err := store.Open(t.Context(), store.Options{Database: filepath.Join(t.TempDir(), "cardwall.db"), Migrate: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	at := func(address, network string) board.Caller { return board.Caller{Address: address, Network: network} }
	attempts := session.NewAttempts(false)
	until := func(what string, most int, guess func(i int) (guesser, string)) {
		t.Helper()
		for i := range most + 1 {
			g, email := guess(i)
			if err := attempts.Take(db, g.subjects(email)...); (err != nil) != (i == most) {
				t.Fatalf("%s: guess %d: %v", what, i+1, err)
			}
		}
	}
	botnet := func(i int) (guesser, string) {
		address := fmt.Sprintf("10.0.%d.%d", i/200, i%200)
		return guesser{caller: at(address, address)}, "grace@example.com"
	}
	until("many networks", guessesAccount.Most, botnet)
	for what, g := range map[string]guesser{
		"a network that is known": {caller: at("192.0.2.1", "192.0.2.1"), knownNetwork: true},
		"a browser that is known": {caller: board.Caller{Address: "10.0.0.1", Network: "10.0.0.1", Device: []byte("x")},
			knownDevice: true},
		"a session": {caller: board.Caller{Address: "10.0.0.1", Network: "10.0.0.1", SessionID: "ses_1"}},
	} {
		if err := attempts.Take(db, g.subjects("grace@example.com")...); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := attempts.Take(db,
		guesser{caller: at("192.0.2.2", "192.0.2.2")}.subjects("grace@example.com")...); err == nil {
		t.Error("an attempt from one more new network was accepted")
	}
	until("made-up networks at many accounts", 10*guessesNetwork.Most, func(i int) (guesser, string) {
		return guesser{caller: at("192.0.2.3", fmt.Sprintf("10.1.%d.%d via 192.0.2.3", i/200, i%200))},
			fmt.Sprintf("p%d@example.com", i)
	})
	until("no networks at many accounts", 10*guessesNetwork.Most, func(i int) (guesser, string) {
		return guesser{caller: at("192.0.2.4", " via 192.0.2.4")}, fmt.Sprintf("p%d@example.com", i)
	})
}
