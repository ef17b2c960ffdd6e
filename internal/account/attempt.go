package account

import (
	"context"
	"errors"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/session"
	"cardwall/internal/store"
)

// The limits for password guesses, and for requests that send emails or create accounts.
// Guesses are limited per account and network. A browser that the account has signed in
// with is counted separately, so that an attacker cannot lock it out (OWASP, "Slow Down
// Online Guessing Attacks with Device Cookies"). Another limit applies to guesses at one
// account from all networks together, except networks that the account has signed in
// from. A password reset still works when this limit is reached.
var (
	// guessesDevice limits guesses at one account from a browser that it has signed in with.
	guessesDevice = session.Limit{Name: "device", Most: 10, Window: 15 * time.Minute}
	// guessesHere limits guesses at one account from one network.
	guessesHere = session.Limit{Name: "here", Most: 10, Window: 15 * time.Minute}
	// guessesNetwork limits guesses at all accounts from one network.
	guessesNetwork = session.Limit{Name: "network", Most: 50, Window: 15 * time.Minute}
	// guessesAccount limits guesses at one account from all networks that it has not signed in from.
	guessesAccount = session.Limit{Name: "account", Most: 500, Window: time.Hour}
	// emailsNetwork limits the requests from one network that send an email or create an account.
	emailsNetwork = session.Limit{Name: "emails", Most: 30, Window: time.Hour}
)

// guesser describes where a guess comes from.
type guesser struct {
	caller                    board.Caller
	knownDevice, knownNetwork bool // whether the account has signed in with this browser or from this network
}

// subjects returns the limits that a guess at the account with an email address counts
// against. A correct guess resets the first one.
func (g guesser) subjects(email string) []session.Subject {
	of := func(l session.Limit, what string) session.Subject {
		return session.Subject{Limit: l, Of: email + "\x00" + what}
	}
	switch {
	case g.caller.SessionID != "":
		return []session.Subject{of(guessesDevice, g.caller.SessionID)}
	case g.knownDevice:
		return []session.Subject{of(guessesDevice, string(g.caller.Device))}
	}
	var out []session.Subject
	if session.KnowsNetwork(g.caller) {
		out = append(out, of(guessesHere, g.caller.Network))
	}
	if !g.knownNetwork || !session.KnowsNetwork(g.caller) {
		out = append(out, session.Subject{Limit: guessesAccount, Of: email})
	}
	return append(out, session.PerNetwork(guessesNetwork, g.caller)...)
}

// takeGuess counts a guess, or returns a rate_limited error if a limit is reached. The
// caller must call it before it checks the password.
func (a *Accounts) takeGuess(db *store.DB, tried []session.Subject) error {
	err := a.attempts.Spend(db, tried...)
	var f *board.Fault
	if errors.As(err, &f) {
		f.Message = "Too many wrong passwords. Try again in " + board.WaitText(f.RetryAfter) + ", " +
			"sign in with a passkey, or reset your password with \"Forgot password?\"."
	}
	return err
}

// recordTimeout limits the time for writing one audit entry.
const recordTimeout = 10 * time.Second

// recordWrongPassword writes a log line and, if there is an account, an entry in the
// audit log. It writes the entry in the background, so that the response takes as
// long as for an address without an account.
func (a *Accounts) recordWrongPassword(db *store.DB, c board.Caller, userID string) {
	a.opts.Log.Warn("wrong password", "request", c.RequestID, "address", c.Address, "network", c.Network, "user", userID)
	if userID == "" {
		return
	}
	a.writing.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), recordTimeout)
		defer cancel()
		err := db.Write(ctx, c, func(tx *store.Tx) error {
			return tx.AuditWrongPassword(ctx, userID, c.Address)
		})
		if err != nil {
			a.opts.Log.Warn("wrong password not recorded", "request", c.RequestID, "error", err)
		}
	})
}

// Close waits for audit entries that are still being written.
func (a *Accounts) Close() { a.writing.Wait() }
