package apptest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"

	"github.com/go-json-experiment/json"
)

// Authenticator is a device that keeps one passkey: it answers what a browser
// asks it, as Web Authentication Level 3 says, with ES256 and no attestation.
type Authenticator struct {
	Origin  string // of the page that asks; BaseURL's when empty
	Absent  bool   // nobody proves to be its owner, though somebody touches it
	Still   bool   // it counts nothing, as those that are kept in several places
	Counter uint32
	id      []byte
	handle  string // of the user, in base64url
	key     *ecdsa.PrivateKey
}

const (
	flagPresent  = 0x01
	flagVerified = 0x04
	flagAttested = 0x40
)

// coordinate is the length of a coordinate of P-256.
const coordinate = 32

// Create makes the passkey that creation options ask for, and answers as
// PublicKeyCredential.toJSON does.
func (a *Authenticator) Create(options any) Fields {
	o := options.(map[string]any)
	var err error
	if a.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		panic(err) // the system has no randomness
	}
	a.id = []byte(rand.Text())
	a.handle = o["user"].(map[string]any)["id"].(string)
	point, err := a.key.PublicKey.Bytes() // 4, x, y
	if err != nil {
		panic(err) // the curve is ours
	}
	// A COSE key (RFC 9052): EC2, ES256, P-256, x, y; in CBOR.
	cose := append([]byte{0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, coordinate}, point[1:1+coordinate]...)
	cose = append(append(cose, 0x22, 0x58, coordinate), point[1+coordinate:]...)
	data := a.data(o["rp"].(map[string]any)["id"].(string), flagAttested)
	data = append(data, make([]byte, 16)...) // AAGUID: says nothing
	data = binary.BigEndian.AppendUint16(data, uint16(len(a.id)))
	data = append(append(data, a.id...), cose...)
	object := append([]byte{0xa3, 0x63}, "fmt\x64none\x67attStmt\xa0\x68authData\x59"...)
	object = binary.BigEndian.AppendUint16(object, uint16(len(data)))
	object = append(object, data...)
	return a.answer(Fields{
		"clientDataJSON": encode(a.client("webauthn.create", o)), "attestationObject": encode(object),
		"transports": []string{"internal"},
	})
}

// Get answers request options with the passkey.
func (a *Authenticator) Get(options any) Fields {
	o := options.(map[string]any)
	if !a.Still {
		a.Counter++
	}
	data, client := a.data(o["rpId"].(string), 0), a.client("webauthn.get", o)
	clientSum := sha256.Sum256(client)
	sum := sha256.Sum256(append(append([]byte{}, data...), clientSum[:]...))
	signature, err := ecdsa.SignASN1(rand.Reader, a.key, sum[:])
	if err != nil {
		panic(err)
	}
	return a.answer(Fields{
		"clientDataJSON": encode(client), "authenticatorData": encode(data), "signature": encode(signature),
		"userHandle": a.handle,
	})
}

func (a *Authenticator) answer(response Fields) Fields {
	return Fields{
		"id": encode(a.id), "rawId": encode(a.id), "type": "public-key", "authenticatorAttachment": "platform",
		"clientExtensionResults": Fields{}, "response": response,
	}
}

// data is the authenticator data up to what a new key adds.
func (a *Authenticator) data(host string, flags byte) []byte {
	sum := sha256.Sum256([]byte(host))
	flags |= flagPresent
	if !a.Absent {
		flags |= flagVerified
	}
	return binary.BigEndian.AppendUint32(append(sum[:], flags), a.Counter)
}

// client is what the browser says of the page that asked.
func (a *Authenticator) client(kind string, o map[string]any) []byte {
	origin := a.Origin
	if origin == "" {
		origin = BaseURL
	}
	text, err := json.Marshal(Fields{"type": kind, "challenge": o["challenge"], "origin": origin, "crossOrigin": false},
		json.Deterministic(true))
	if err != nil {
		panic(err)
	}
	return text
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }
