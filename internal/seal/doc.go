// Package seal keeps secrets unreadable where they rest.
//
// A Keyring seals with its first key and opens with all, so that what is sealed
// can move from one key to the next while a server runs. Sealing is AES-256-GCM
// with random nonces. What is sealed is bound to its place, a text that names
// the record and the column: moved anywhere else it does not open.
//
// It promises that no key leaves it but through
// NewKey and the file that it writes: not in an error, not in a log.
//
// A sealed value is one byte of version (1), the eight bytes of the key's id,
// and what crypto/cipher.NewGCMWithRandomNonce makes: nonce, ciphertext, tag.
package seal
