package account

import (
	"context"
	"errors"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/session"
	"cardwall/internal/store"
)

// The limits of guesses, and of what makes emails leave. A guesser is slowed by
// account and network. A browser that the account has signed in with is counted
// separately, so that nobody else can keep it out (OWASP, "Slow Down Online
// Guessing Attacks with Device Cookies"). What many networks guess at one account
// is bounded too, but not for the networks that the account has signed in from;
// anyone else gets in by the link of a password reset meanwhile.
var (
	guessesDevice  = session.Limit{Name: "device", Most: 10, Window: 15 * time.Minute}  // at one account, from a browser that it knows
	guessesHere    = session.Limit{Name: "here", Most: 10, Window: 15 * time.Minute}    // at one account, from one network
	guessesNetwork = session.Limit{Name: "network", Most: 50, Window: 15 * time.Minute} // at any account, from one network
	guessesAccount = session.Limit{Name: "account", Most: 500, Window: time.Hour}       // at one account, from networks that it does not know
	lettersNetwork = session.Limit{Name: "letters", Most: 30, Window: time.Hour}        // asked for from one network
)

// guesser is where a guess comes from, and what the account knows of it.
type guesser struct {
	caller        board.Caller
	device, place bool // the account has signed in with the browser, or from the network
}

// subjects are what a guess at the account of an address counts for. The first is
// forgiven entirely when the guess is right.
func (g guesser) subjects(email string) []session.Subject {
	of := func(l session.Limit, what string) session.Subject {
		return session.Subject{Limit: l, Of: email + "\x00" + what}
	}
	switch {
	case g.caller.SessionID != "":
		return []session.Subject{of(guessesDevice, g.caller.SessionID)}
	case g.device:
		return []session.Subject{of(guessesDevice, string(g.caller.Device))}
	}
	var out []session.Subject
	if session.KnowsNetwork(g.caller) {
		out = append(out, of(guessesHere, g.caller.Network))
	}
	if !g.place || !session.KnowsNetwork(g.caller) {
		out = append(out, session.Subject{Limit: guessesAccount, Of: email})
	}
	return append(out, session.PerNetwork(guessesNetwork, g.caller)...)
}

// take counts a guess before it is made.
func (a *Accounts) take(db *store.DB, tried []session.Subject) error {
	err := a.attempts.Take(db, tried...)
	var f *board.Fault
	if errors.As(err, &f) {
		f.Message = "Too many wrong passwords were tried. Wait as long as Retry-After says, sign in with a passkey, or choose a new password with the link that \"Forgot password?\" sends."
	}
	return err
}

// recordTime is how long the record of a wrong password may take to be written.
const recordTime = 10 * time.Second

// wrongPassword leaves a line in the log and, if there is an account, an entry
// in the audit log. The entry is written in the background: the answer takes as
// long for an address without an account.
func (a *Accounts) wrongPassword(db *store.DB, c board.Caller, userID string) {
	a.opts.Log.Warn("wrong password", "request", c.RequestID, "address", c.Address, "network", c.Network, "user", userID)
	if userID == "" {
		return
	}
	a.writing.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), recordTime)
		defer cancel()
		err := db.Write(ctx, c, func(tx *store.Tx) error {
			tx.Note("", board.Changes{"address": {To: c.Address}})
			return tx.Audit(ctx, "reject_password", userID)
		})
		if err != nil {
			a.opts.Log.Warn("wrong password not recorded", "request", c.RequestID, "error", err)
		}
	})
}

// Close waits for what is still being recorded.
func (a *Accounts) Close() { a.writing.Wait() }
