// Package seal encrypts the secrets that are stored in the database.
//
// A Keyring encrypts with its first key and decrypts with all of its keys, so that values
// can move to a new key while servers run. It uses AES-256-GCM with random nonces. A
// value is bound to an encryption context, a string that identifies the record and the
// column. It cannot be decrypted with another context.
//
// Keys leave the package only through NewKey and the key file. They are never part of
// an error or a log line.
//
// An encrypted value consists of one byte for the version (1), the eight bytes of
// the key's id, and the output of crypto/cipher.NewGCMWithRandomNonce: nonce,
// ciphertext and tag.
package seal
