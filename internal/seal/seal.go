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
	idSize   = 8  // bytes; enough to tell an operator's keys apart
	overhead = 1 + idSize
	idLabel  = "cardwall seal: id of a key\x00"
)

var (
	// ErrUnknownKey is that a value was sealed under a key that the ring does not have.
	ErrUnknownKey = errors.New("sealed under a key that this server does not have")
	// ErrDamaged is that a value was changed since it was sealed, or was sealed for another place.
	ErrDamaged = errors.New("the sealed value is damaged, or belongs to another place")
)

// Keyring holds the keys: the first seals, all open. It is safe for concurrent
// use. However it is printed or logged, it shows the ids of its keys alone.
type Keyring struct {
	keys atomic.Pointer[[]key]
	path string // of its file; empty when it has none

	reading sync.Mutex
	read    os.FileInfo // the file when it was last read
}

type key struct {
	id   string // idSize bytes
	aead cipher.AEAD
}

// NewKey makes a key, as the text that Parse takes.
func NewKey() string {
	fresh := make([]byte, keySize)
	_, _ = rand.Read(fresh) // never fails (crypto/rand)
	return base64.StdEncoding.EncodeToString(fresh)
}

// Parse reads keys of 32 bytes in base64 or hex, separated by commas or lines.
// The first seals. Its errors never repeat what was read.
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
		return nil, errors.New("there is no secret key; `openssl rand -base64 32` makes one")
	}
	return keys, nil
}

// words are the keys in a text, one by one.
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
		return nil, errors.New("is not 32 bytes in base64 or hex; `openssl rand -base64 32` makes one") // err would repeat parts of it
	}
	return raw, nil
}

func newKey(raw []byte) (key, error) {
	block, err := aes.NewCipher(raw)
	if err != nil {
		return key{}, fmt.Errorf("make a cipher: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return key{}, fmt.Errorf("make a cipher: %w", err)
	}
	sum := sha256.Sum256(append([]byte(idLabel), raw...))
	return key{id: string(sum[:idSize]), aead: aead}, nil
}

// appendNew adds the keys that are not there yet.
func appendNew(keys []key, more ...key) []key {
	for _, m := range more {
		if !slices.ContainsFunc(keys, func(k key) bool { return k.id == m.id }) {
			keys = append(keys, m)
		}
	}
	return keys
}

// Seal seals for a place under the first key.
func (k *Keyring) Seal(place string, plain []byte) []byte {
	// Another process may have put a new key first; without its file a ring
	// goes on with the keys that it has.
	_ = k.refresh()
	return (*k.keys.Load())[0].seal(place, plain)
}

// SealUnder seals for a place under the key of that id.
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

// Open opens what was sealed for the place. Its errors are ErrUnknownKey, with
// the key's id, and ErrDamaged.
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
		return nil, ErrDamaged // the cipher's own error says no more
	}
	return plain, nil
}

// find finds a key, in the file too when that has changed.
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

// Current is the id of the key that seals.
func (k *Keyring) Current() string { return hex.EncodeToString([]byte((*k.keys.Load())[0].id)) }

// Len is how many keys the ring has.
func (k *Keyring) Len() int { return len(*k.keys.Load()) }

// Has tells whether the ring has the key of that id.
func (k *Keyring) Has(id string) bool {
	raw, err := hex.DecodeString(id)
	if err != nil {
		return false
	}
	_, err = k.find(string(raw))
	return err == nil
}

// Stale tells whether a value is sealed under another key than the one that seals.
func (k *Keyring) Stale(sealed []byte) bool { return KeyOf(sealed) != k.Current() }

// KeyOf is the id of the key that a value is sealed under; empty for what is
// not a sealed value.
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

// String shows the ids of the keys.
func (k *Keyring) String() string {
	var ids []string
	for _, have := range *k.keys.Load() {
		ids = append(ids, hex.EncodeToString([]byte(have.id)))
	}
	return "keyring " + strings.Join(ids, ",")
}

// Format is String for every verb: no %d or %#v reaches the keys.
func (k *Keyring) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, k.String()) }

// LogValue is String.
func (k *Keyring) LogValue() slog.Value { return slog.StringValue(k.String()) }
