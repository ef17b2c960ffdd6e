package session

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"

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
	passwordMax    = 1024
)

const passwordForm = "$argon2id$v=19$m=%d,t=%d,p=%d$"

// HashPassword is the form in which a password is stored (the PHC string
// format). It refuses passwords below 10 and above 1,024 characters.
func HashPassword(password string) (string, error) {
	if n := utf8.RuneCountInString(password); n < passwordMin || n > passwordMax {
		return "", board.Invalid("password must have %d to %d characters.", passwordMin, passwordMax)
	}
	salt := make([]byte, passwordSalt)
	_, _ = rand.Read(salt) // never fails
	key := argon2.IDKey([]byte(password), salt, passwordTime, passwordMemory, passwordLanes, passwordKey)
	enc := base64.RawStdEncoding
	return fmt.Sprintf(passwordForm, passwordMemory, passwordTime, passwordLanes) + enc.EncodeToString(salt) + "$" + enc.EncodeToString(key), nil
}
