package account

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"runtime"
	"strings"
	"time"

	"golang.org/x/crypto/argon2"
	"golang.org/x/text/unicode/norm"

	"cardwall/internal/board"
	"cardwall/internal/password"
)

// The cost of a password: argon2id with 19 MiB, two passes, one lane (OWASP
// Password Storage Cheat Sheet).
const (
	passwordMemory = 19 * 1024 // KiB
	passwordTime   = 2
	passwordLanes  = 1
	passwordKey    = 32 // bytes
	passwordSalt   = 16 // bytes
)

const passwordForm = "$argon2id$v=19$m=%d,t=%d,p=%d$"

// HashPassword is the form in which a password is stored (the PHC string
// format). It refuses what CheckPassword does.
func HashPassword(secret string, own ...string) (string, error) {
	if err := CheckPassword(secret, own...); err != nil {
		return "", err
	}
	salt := make([]byte, passwordSalt)
	_, _ = rand.Read(salt) // never fails
	enc := base64.RawStdEncoding
	return fmt.Sprintf(passwordForm, passwordMemory, passwordTime, passwordLanes) + enc.EncodeToString(salt) + "$" + enc.EncodeToString(derive(secret, salt)), nil
}

// derive is slow on purpose. The same characters, however a keyboard composes
// them, are the same password (RFC 8265, 4.2).
func derive(secret string, salt []byte) []byte {
	return argon2.IDKey([]byte(norm.NFC.String(secret)), salt, passwordTime, passwordMemory, passwordLanes, passwordKey)
}

// CheckPassword refuses a password that package password does. The owner's name
// and address are in own.
func CheckPassword(secret string, own ...string) error {
	const better = "a few words that only you would put together are good."
	switch password.Check(secret, own...) {
	case password.Short, password.Long:
		return board.Invalid("password must have at least %d characters, and at most %d bytes.", password.MinLength, password.MaxBytes)
	case password.Own:
		return board.Invalid("password must not be made of your name, your address or the name of this service; " + better)
	case password.Common:
		return board.Invalid("password is one of the most common passwords, which are tried first; " + better)
	case password.Predictable:
		return board.Invalid("password is too easy to guess: it is made of common words, years, sequences or repetitions; " + better)
	}
	return nil
}

// passwords hashes and checks, a few at a time: each takes 19 MiB and some 20 ms
// of a core.
type passwords struct{ turns chan struct{} }

// passwordWait is how long a request waits for its turn.
const passwordWait = 10 * time.Second

func newPasswords() *passwords {
	return &passwords{turns: make(chan struct{}, min(max(runtime.GOMAXPROCS(0), 2), 8))}
}

func (p *passwords) turn(ctx context.Context) (leave func(), err error) {
	timer := time.NewTimer(passwordWait)
	defer timer.Stop()
	select {
	case p.turns <- struct{}{}:
		return func() { <-p.turns }, nil
	case <-ctx.Done():
	case <-timer.C:
	}
	return nil, &board.Fault{Code: board.CodeUnavailable, RetryAfter: time.Second, Message: "Many people sign in right now; try again in a moment."}
}

// hash is HashPassword, in turn.
func (p *passwords) hash(ctx context.Context, secret string, own ...string) (string, error) {
	leave, err := p.turn(ctx)
	if err != nil {
		return "", err
	}
	defer leave()
	return HashPassword(secret, own...)
}

// right tells whether a password is the one of a hash. It takes as long when
// there is none: for an address without an account, or an account without a
// password.
func (p *passwords) right(ctx context.Context, hash, secret string) (bool, error) {
	if len(secret) > password.MaxBytes {
		secret = "" // nobody's
	}
	salt, want, known := parsePassword(hash)
	leave, err := p.turn(ctx)
	if err != nil {
		return false, err
	}
	defer leave()
	same := subtle.ConstantTimeCompare(derive(secret, salt), want) == 1
	return same && known, nil
}

// parsePassword reads what HashPassword made; of anything else it makes a salt
// and a key that no password has.
func parsePassword(hash string) (salt, key []byte, known bool) {
	rest, ok := strings.CutPrefix(hash, fmt.Sprintf(passwordForm, passwordMemory, passwordTime, passwordLanes))
	first, second, two := strings.Cut(rest, "$")
	if ok && two {
		salt, errSalt := base64.RawStdEncoding.DecodeString(first)
		key, errKey := base64.RawStdEncoding.DecodeString(second)
		if errSalt == nil && errKey == nil && len(salt) == passwordSalt && len(key) == passwordKey {
			return salt, key, true
		}
	}
	salt, key = make([]byte, passwordSalt), make([]byte, passwordKey)
	return salt, key, false
}
