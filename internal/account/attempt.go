package account

import (
	"time"

	"cardwall/internal/session"
)

// The limits of guesses, and of what makes letters leave.
var (
	guessesHere    = session.Limit{Name: "here", Most: 10, Window: 15 * time.Minute}     // at one account, from one network
	guessesAnybody = session.Limit{Name: "network", Most: 50, Window: 15 * time.Minute}  // at any account, from one network
	guessesAccount = session.Limit{Name: "account", Most: 200, Window: 15 * time.Minute} // at one account, from anywhere
	lettersNetwork = session.Limit{Name: "letters", Most: 30, Window: time.Hour}         // asked for from one network
)

// guess is what a guess at an account's password counts for.
func guess(account, network string) []session.Subject {
	return []session.Subject{{Limit: guessesHere, Of: account + "\x00" + network}, {Limit: guessesAnybody, Of: network}, {Limit: guessesAccount, Of: account}}
}
