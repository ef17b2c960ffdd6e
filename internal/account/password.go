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

// The parameters of argon2id: 19 MiB, two passes, one lane (OWASP Password Storage
// Cheat Sheet).
const (
	passwordMemory = 19 * 1024 // KiB
	passwordTime   = 2
	passwordLanes  = 1
	passwordKey    = 32 // bytes
	passwordSalt   = 16 // bytes
)

const passwordForm = "$argon2id$v=19$m=%d,t=%d,p=%d$"

// HashPassword returns the argon2id hash of a password in the PHC string format. It
// returns an error if CheckPassword does. The own arguments are those of CheckPassword.
func HashPassword(secret string, own ...string) (string, error) {
	if err := CheckPassword(secret, own...); err != nil {
		return "", err
	}
	salt := make([]byte, passwordSalt)
	_, _ = rand.Read(salt) // never fails
	enc := base64.RawStdEncoding
	prefix := fmt.Sprintf(passwordForm, passwordMemory, passwordTime, passwordLanes)
	return prefix + enc.EncodeToString(salt) + "$" + enc.EncodeToString(derive(secret, salt)), nil
}

// derive returns the argon2id key of a password. It normalizes the password to
// NFC, because different keyboards compose the same characters differently (RFC 8265, 4.2).
func derive(secret string, salt []byte) []byte {
	return argon2.IDKey([]byte(norm.NFC.String(secret)), salt, passwordTime, passwordMemory, passwordLanes, passwordKey)
}

// CheckPassword returns an error if package password does not accept a password. The own
// arguments are the name and the email address of the account.
func CheckPassword(secret string, own ...string) error {
	const better = "Try a few words that only you would combine."
	switch password.Check(secret, own...) {
	case password.Short, password.Long:
		return board.Invalid("password must have at least %d characters and at most %d bytes.",
			password.MinLength, password.MaxBytes).In("password", board.RuleValue)
	case password.Own:
		return board.Invalid("password must not consist of your name, your address or the name of this service. "+better).
			In("password", board.RuleValue)
	case password.Common:
		return board.Invalid("password is one of the most common passwords, which attackers try first. "+better).
			In("password", board.RuleValue)
	case password.Predictable:
		return board.Invalid("password is too easy to guess: it consists of common words, years, sequences or repetitions. "+
			better).In("password", board.RuleValue)
	}
	return nil
}

// passwords limits how many passwords are hashed or verified concurrently. Each hash takes
// 19 MiB of memory and about 20 ms of CPU time.
type passwords struct{ slots chan struct{} }

// passwordWait limits how long a request waits for a slot.
const passwordWait = 10 * time.Second

func newPasswords() *passwords {
	cores := min(runtime.GOMAXPROCS(0), runtime.NumCPU()) // GOMAXPROCS can be higher
	return &passwords{slots: make(chan struct{}, min(max(cores, 2), 8))}
}

func (p *passwords) acquire(ctx context.Context) (release func(), err error) {
	timer := time.NewTimer(passwordWait)
	defer timer.Stop()
	select {
	case p.slots <- struct{}{}:
		return func() { <-p.slots }, nil
	case <-ctx.Done():
	case <-timer.C:
	}
	return nil, &board.Fault{
		Code: board.CodeUnavailable, RetryAfter: time.Second,
		Message: "Too many people are signing in right now. Try again in a moment.",
	}
}

// hash calls HashPassword when a slot is free.
func (p *passwords) hash(ctx context.Context, secret string, own ...string) (string, error) {
	release, err := p.acquire(ctx)
	if err != nil {
		return "", err
	}
	defer release()
	return HashPassword(secret, own...)
}

// matches reports whether a password has the given hash. It takes as long for an empty
// hash, which means that the account does not exist or has no password.
func (p *passwords) matches(ctx context.Context, hash, secret string) (bool, error) {
	if len(secret) > password.MaxBytes {
		secret = "" // cannot match
	}
	salt, want, known := parsePassword(hash)
	release, err := p.acquire(ctx)
	if err != nil {
		return false, err
	}
	defer release()
	same := subtle.ConstantTimeCompare(derive(secret, salt), want) == 1
	return same && known, nil
}

// parsePassword parses a hash returned by HashPassword. For any other string, it returns
// a salt and a key that match no password.
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
