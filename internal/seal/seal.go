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
	// ErrDamaged is returned if a value was changed, or was encrypted with another context.
	ErrDamaged = errors.New("the encrypted value is damaged or belongs to another record or column")
)

// Keyring holds encryption keys. It encrypts with the first key and decrypts with
// all of them. It is safe for concurrent use. Printing or logging it shows only the
// ids of its keys.
type Keyring struct {
	keys atomic.Pointer[[]key]
	path string // path of the file with the keys; empty if there is none

	reading sync.Mutex
	read    os.FileInfo // state of the file when it was last read; nil if it has not been read
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

// words splits text into keys.
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
		// Accept both alphabets of RFC 4648 (4 and 5), with or without padding.
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

// Seal encrypts a value with the first key and binds it to a context.
func (k *Keyring) Seal(context string, plain []byte) []byte {
	// Another process may have added a new first key. If the file cannot be read,
	// the known keys are used.
	_ = k.refresh()
	return (*k.keys.Load())[0].seal(context, plain)
}

// SealUnder encrypts a value with the key of the given id and binds it to a context.
// The error wraps ErrUnknownKey if the keyring does not have the key.
func (k *Keyring) SealUnder(id, context string, plain []byte) ([]byte, error) {
	raw, err := hex.DecodeString(id)
	if err != nil {
		return nil, fmt.Errorf("decode the id of a secret key: %w", err)
	}
	found, err := k.find(string(raw))
	if err != nil {
		return nil, err
	}
	return found.seal(context, plain), nil
}

func (k key) seal(context string, plain []byte) []byte {
	sealed := make([]byte, 0, overhead+len(plain)+k.aead.Overhead())
	sealed = append(sealed, version)
	sealed = append(sealed, k.id...)
	return k.aead.Seal(sealed, nil, plain, []byte(context))
}

// Open decrypts a value that was encrypted with the context. The error is ErrDamaged,
// or wraps ErrUnknownKey and contains the key's id.
func (k *Keyring) Open(context string, sealed []byte) ([]byte, error) {
	id, ok := idOf(sealed)
	if !ok {
		return nil, ErrDamaged
	}
	found, err := k.find(id)
	if err != nil {
		return nil, err
	}
	plain, err := found.aead.Open(nil, nil, sealed[overhead:], []byte(context))
	if err != nil {
		return nil, ErrDamaged // the cipher's error has no more details
	}
	return plain, nil
}

// find returns a key by its id. It reads the file again if the key is unknown.
func (k *Keyring) find(id string) (key, error) {
	found, ok := k.lookup(id)
	if ok {
		return found, nil
	}
	err := k.refresh()
	if found, ok = k.lookup(id); ok {
		return found, nil
	}
	return key{}, errors.Join(fmt.Errorf("%w (%x)", ErrUnknownKey, id), err)
}

func (k *Keyring) lookup(id string) (key, bool) {
	keys := *k.keys.Load()
	i := slices.IndexFunc(keys, func(k key) bool { return k.id == id })
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

// Stale reports whether a value is not encrypted with the current key.
func (k *Keyring) Stale(sealed []byte) bool { return KeyOf(sealed) != k.Current() }

// KeyOf returns the id of the key with which a value is encrypted, or "" if the value is
// not encrypted.
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
	for _, key := range *k.keys.Load() {
		ids = append(ids, hex.EncodeToString([]byte(key.id)))
	}
	return "keyring " + strings.Join(ids, ",")
}

// Format writes String for every verb, so that %d or %#v cannot print the keys.
func (k *Keyring) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, k.String()) }

// LogValue returns String for the log.
func (k *Keyring) LogValue() slog.Value { return slog.StringValue(k.String()) }
