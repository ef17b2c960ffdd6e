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
	"unicode/utf8"

	"golang.org/x/crypto/argon2"
	"golang.org/x/text/unicode/norm"

	"cardwall/internal/board"
)

// The cost of a password: argon2id with 19 MiB, two passes, one lane (OWASP
// Password Storage Cheat Sheet).
const (
	passwordMemory = 19 * 1024 // KiB
	passwordTime   = 2
	passwordLanes  = 1
	passwordKey    = 32 // bytes
	passwordSalt   = 16 // bytes
	passwordMin    = 10 // characters
	passwordMax    = 1000
)

const passwordForm = "$argon2id$v=19$m=%d,t=%d,p=%d$"

// HashPassword is the form in which a password is stored (the PHC string
// format). It refuses passwords below 10 characters and above 1,000 bytes.
func HashPassword(password string) (string, error) {
	if err := CheckPassword(password); err != nil {
		return "", err
	}
	salt := make([]byte, passwordSalt)
	_, _ = rand.Read(salt) // never fails
	enc := base64.RawStdEncoding
	return fmt.Sprintf(passwordForm, passwordMemory, passwordTime, passwordLanes) + enc.EncodeToString(salt) + "$" + enc.EncodeToString(derive(password, salt)), nil
}

// derive is slow on purpose. The same characters, however a keyboard composes
// them, are the same password (RFC 8265, 4.2).
func derive(password string, salt []byte) []byte {
	return argon2.IDKey([]byte(norm.NFC.String(password)), salt, passwordTime, passwordMemory, passwordLanes, passwordKey)
}

// CheckPassword refuses what nobody should choose: a password that is too short
// or too long, that many people have, or that is one of the person's own words.
func CheckPassword(password string, own ...string) error {
	if utf8.RuneCountInString(password) < passwordMin || len(password) > passwordMax {
		return board.Invalid("password must have at least %d characters, and at most %d bytes.", passwordMin, passwordMax)
	}
	plain := squeeze(password)
	for _, word := range own {
		local, _, _ := strings.Cut(word, "@")
		if w := squeeze(word); w != "" && (plain == w || plain == squeeze(local)) {
			return board.Invalid("password must not be your name or address; a few words that only you would put together are good.")
		}
	}
	for _, common := range strings.Fields(commonPasswords) {
		if plain == common {
			return board.Invalid("password is one of those that are tried first; a few words that only you would put together are good.")
		}
	}
	if strings.Count(password, password[:1]) == len(password) {
		return board.Invalid("password must not be one character again and again.")
	}
	return nil
}

// squeeze is a text without case and white space.
func squeeze(s string) string { return strings.Join(strings.Fields(strings.ToLower(s)), "") }

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

// hash is HashPassword, in turn, of what CheckPassword lets through.
func (p *passwords) hash(ctx context.Context, password string, own ...string) (string, error) {
	if err := CheckPassword(password, own...); err != nil {
		return "", err
	}
	leave, err := p.turn(ctx)
	if err != nil {
		return "", err
	}
	defer leave()
	return HashPassword(password)
}

// right tells whether a password is the one of a hash. It takes as long when
// there is none: for an address without an account, or an account without a
// password.
func (p *passwords) right(ctx context.Context, hash, password string) (bool, error) {
	if len(password) > passwordMax {
		password = "" // nobody's
	}
	salt, want, known := parsePassword(hash)
	leave, err := p.turn(ctx)
	if err != nil {
		return false, err
	}
	defer leave()
	same := subtle.ConstantTimeCompare(derive(password, salt), want) == 1
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

// commonPasswords are those of the lists of leaked passwords that are long
// enough for us, in lower case.
const commonPasswords = `
	1234567890 0123456789 12345678910 123456789a 123456789q 1234567891 0987654321 9876543210 1q2w3e4r5t 1qaz2wsx3edc qazwsxedcrfv
	1q2w3e4r5t6y qwertyuiop qwerty12345 qwerty123456 qwerty1234 qwertyuiop123 asdfghjkl123 zxcvbnm123 qwertzuiop azertyuiop 1234qwerasdf
	password12 password123 password1234 password12345 password123456 passwordpassword mypassword mypassword1 newpassword password2024
	password2025 password2026 p@ssw0rd123 p@ssword123 passw0rd123 passwort123 passwort1234 motdepasse contraseña contrasena1 wachtwoord
	wachtwoord1 adminadmin admin12345 admin123456 administrator administrator1 changeme123 changemenow letmein123 letmein1234 welcome123
	welcome1234 welcome2024 welcome2025 welcome2026 iloveyou12 iloveyou123 iloveyou1234 iloveyouforever sunshine123 princess123 football123
	baseball123 basketball superman123 batman12345 dragon12345 monkey12345 master12345 shadow12345 michael123 jennifer123 charlie123
	abcdefghij abcdefghijk abcd123456 abc1234567 abc123456789 a123456789 a1234567890 aa12345678 aa123456789 q123456789 z123456789
	1111111111 0000000000 1212121212 1231231231 123123123123 123321123321 1122334455 11223344556 5555555555 7777777777 9999999999
	987654321a 147258369a 1472583690 147852369a 159753159753 789456123a 3141592653 31415926535 2718281828 secret1234 secretsecret
	trustno1trustno1 whatever123 starwars123 pokemon1234 minecraft1 minecraft123 liverpool1 liverpool123 manchester chelsea123 barcelona1
	arsenal123 juventus123 computer123 internet123 samsung123 google1234 facebook123 linkedin123 cardwall123 cardwallcardwall
	correcthorsebatterystaple test123456 test1234567 testtest123 testtesttest guest12345 default123 temporary1 temppassword summer2024
	summer2025 summer2026 winter2024 winter2025 winter2026 spring2026 autumn2026 january2026 blink182blink182 onedirection
`
