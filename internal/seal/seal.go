package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

const (
	version  = 1
	keySize  = 32 // bytes; AES-256
	idSize   = 8  // bytes; enough to distinguish an operator's keys
	overhead = 1 + idSize
	idLabel  = "cardwall seal: id of a key\x00"
)

var (
	// ErrUnknownKey is returned if a value was encrypted with a key that is not in the keyring.
	ErrUnknownKey = errors.New("encrypted with a key that this server does not have")
	// ErrDamaged is returned if a value was changed, or was encrypted for another place.
	ErrDamaged = errors.New("the encrypted value is damaged or belongs to another place")
)

// Keyring holds encryption keys. It encrypts with the first key and decrypts with
// all of them. It is safe for concurrent use. Printing or logging it shows only the
// ids of its keys.
type Keyring struct {
	keys atomic.Pointer[[]key]
	path string // of its file; empty if there is none

	reading sync.Mutex
	read    os.FileInfo // of the file when it was last read
}

type key struct {
	id   string // idSize bytes
	aead cipher.AEAD
}

// NewKey returns a new key as text for Parse.
func NewKey() string {
	fresh := make([]byte, keySize)
	_, _ = rand.Read(fresh) // never fails (crypto/rand)
	return base64.StdEncoding.EncodeToString(fresh)
}

// Parse parses keys of 32 bytes in base64 or hex, separated by commas or line
// breaks. The first key encrypts. The error never contains the text.
func Parse(text string) (*Keyring, error) {
	keys, err := parse(text)
	if err != nil {
		return nil, err
	}
	k := &Keyring{}
	k.keys.Store(&keys)
	return k, nil
}

func parse(text string) ([]key, error) {
	var keys []key
	for _, word := range words(text) {
		raw, err := decode(word)
		if err != nil {
			return nil, fmt.Errorf("secret key number %d %w", len(keys)+1, err)
		}
		fresh, err := newKey(raw)
		if err != nil {
			return nil, err
		}
		keys = appendNew(keys, fresh)
	}
	if len(keys) == 0 {
		return nil, errors.New("there is no secret key; create one with `openssl rand -base64 32`")
	}
	return keys, nil
}

// words splits a text into its keys.
func words(text string) []string {
	all := strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == '\n' || r == '\r' })
	for i, w := range all {
		all[i] = strings.TrimSpace(w)
	}
	return slices.DeleteFunc(all, func(w string) bool { return w == "" })
}

func decode(word string) ([]byte, error) {
	raw, err := hex.DecodeString(word)
	if err != nil {
		// With or without padding, in either alphabet (RFC 4648, 4 and 5).
		word = strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(word, "="))
		raw, err = base64.RawStdEncoding.DecodeString(word)
	}
	if err != nil || len(raw) != keySize {
		// err would contain parts of the key.
		return nil, errors.New("is not 32 bytes in base64 or hex; create one with `openssl rand -base64 32`")
	}
	return raw, nil
}

func newKey(raw []byte) (key, error) {
	block, err := aes.NewCipher(raw)
	if err != nil {
		return key{}, fmt.Errorf("create cipher: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return key{}, fmt.Errorf("create cipher: %w", err)
	}
	sum := sha256.Sum256(append([]byte(idLabel), raw...))
	return key{id: string(sum[:idSize]), aead: aead}, nil
}

// appendNew appends the keys that are not in the slice yet.
func appendNew(keys []key, more ...key) []key {
	for _, m := range more {
		if !slices.ContainsFunc(keys, func(k key) bool { return k.id == m.id }) {
			keys = append(keys, m)
		}
	}
	return keys
}

// Seal encrypts a value for a place with the first key.
func (k *Keyring) Seal(place string, plain []byte) []byte {
	// Another process may have added a new first key. If the file cannot be read,
	// the known keys are used.
	_ = k.refresh()
	return (*k.keys.Load())[0].seal(place, plain)
}

// SealUnder encrypts a value for a place with the key of the given id.
func (k *Keyring) SealUnder(id, place string, plain []byte) ([]byte, error) {
	raw, err := hex.DecodeString(id)
	if err != nil {
		return nil, fmt.Errorf("id of a secret key: %w", err)
	}
	with, err := k.find(string(raw))
	if err != nil {
		return nil, err
	}
	return with.seal(place, plain), nil
}

func (k key) seal(place string, plain []byte) []byte {
	sealed := make([]byte, 0, overhead+len(plain)+k.aead.Overhead())
	sealed = append(sealed, version)
	sealed = append(sealed, k.id...)
	return k.aead.Seal(sealed, nil, plain, []byte(place))
}

// Open decrypts a value that was encrypted for the place. The error wraps
// ErrUnknownKey and contains the key's id, or is ErrDamaged.
func (k *Keyring) Open(place string, sealed []byte) ([]byte, error) {
	id, ok := idOf(sealed)
	if !ok {
		return nil, ErrDamaged
	}
	with, err := k.find(id)
	if err != nil {
		return nil, err
	}
	plain, err := with.aead.Open(nil, nil, sealed[overhead:], []byte(place))
	if err != nil {
		return nil, ErrDamaged // the cipher's error has no more details
	}
	return plain, nil
}

// find returns a key by its id. It reads the file again if the key is unknown.
func (k *Keyring) find(id string) (key, error) {
	with, ok := k.lookup(id)
	if ok {
		return with, nil
	}
	unread := k.refresh()
	if with, ok = k.lookup(id); ok {
		return with, nil
	}
	return key{}, errors.Join(fmt.Errorf("%w (%x)", ErrUnknownKey, id), unread)
}

func (k *Keyring) lookup(id string) (key, bool) {
	keys := *k.keys.Load()
	i := slices.IndexFunc(keys, func(have key) bool { return have.id == id })
	if i < 0 {
		return key{}, false
	}
	return keys[i], true
}

// Current returns the id of the key that encrypts.
func (k *Keyring) Current() string { return hex.EncodeToString([]byte((*k.keys.Load())[0].id)) }

// Len returns the number of keys.
func (k *Keyring) Len() int { return len(*k.keys.Load()) }

// Has reports whether the keyring has the key with the given id.
func (k *Keyring) Has(id string) bool {
	raw, err := hex.DecodeString(id)
	if err != nil {
		return false
	}
	_, err = k.find(string(raw))
	return err == nil
}

// Stale reports whether a value is encrypted with another key than the current one.
func (k *Keyring) Stale(sealed []byte) bool { return KeyOf(sealed) != k.Current() }

// KeyOf returns the id of the key that a value is encrypted with, or "" if it is
// not an encrypted value.
func KeyOf(sealed []byte) string {
	id, _ := idOf(sealed)
	return hex.EncodeToString([]byte(id))
}

func idOf(sealed []byte) (string, bool) {
	if len(sealed) < overhead || sealed[0] != version {
		return "", false
	}
	return string(sealed[1:overhead]), true
}

// String returns the ids of the keys.
func (k *Keyring) String() string {
	var ids []string
	for _, have := range *k.keys.Load() {
		ids = append(ids, hex.EncodeToString([]byte(have.id)))
	}
	return "keyring " + strings.Join(ids, ",")
}

// Format writes String for every verb, so that %d or %#v cannot print the keys.
func (k *Keyring) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, k.String()) }

// LogValue returns String for the log.
func (k *Keyring) LogValue() slog.Value { return slog.StringValue(k.String()) }
