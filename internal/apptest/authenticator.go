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

// Authenticator is a device that stores one passkey. It responds to a browser's requests as
// specified in Web Authentication Level 3, with ES256 and without attestation.
type Authenticator struct {
	Origin       string // origin of the requesting page; BaseURL if empty
	Unverified   bool   // the user is present, but the device does not verify the user
	FixedCounter bool   // the signature counter stays 0, as with synced passkeys
	Counter      uint32
	id           []byte
	handle       string // user handle, in base64url
	key          *ecdsa.PrivateKey
}

const (
	flagPresent  = 0x01
	flagVerified = 0x04
	flagAttested = 0x40
)

// coordinate is the length in bytes of a P-256 coordinate.
const coordinate = 32

// Create creates the passkey that the creation options describe and returns the response in the
// form of PublicKeyCredential.toJSON.
func (a *Authenticator) Create(options any) Fields {
	o := options.(map[string]any)
	var err error
	if a.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		panic(err) // the system cannot provide random bytes
	}
	a.id = []byte(rand.Text())
	a.handle = o["user"].(map[string]any)["id"].(string)
	point, err := a.key.PublicKey.Bytes() // 4, x, y
	if err != nil {
		panic(err) // the curve is always P-256
	}
	// A COSE key (RFC 9052): EC2, ES256, P-256, x, y; in CBOR.
	cose := append([]byte{0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, coordinate}, point[1:1+coordinate]...)
	cose = append(append(cose, 0x22, 0x58, coordinate), point[1+coordinate:]...)
	data := a.data(o["rp"].(map[string]any)["id"].(string), flagAttested)
	data = append(data, make([]byte, 16)...) // an AAGUID of zeros identifies no model
	data = binary.BigEndian.AppendUint16(data, uint16(len(a.id)))
	data = append(append(data, a.id...), cose...)
	object := append([]byte{0xa3, 0x63}, "fmt\x64none\x67attStmt\xa0\x68authData\x59"...)
	object = binary.BigEndian.AppendUint16(object, uint16(len(data)))
	object = append(object, data...)
	return a.response(Fields{
		"clientDataJSON": encode(a.client("webauthn.create", o)), "attestationObject": encode(object),
		"transports": []string{"internal"},
	})
}

// Get returns the passkey's response to request options.
func (a *Authenticator) Get(options any) Fields {
	o := options.(map[string]any)
	if !a.FixedCounter {
		a.Counter++
	}
	data, client := a.data(o["rpId"].(string), 0), a.client("webauthn.get", o)
	clientSum := sha256.Sum256(client)
	sum := sha256.Sum256(append(append([]byte{}, data...), clientSum[:]...))
	signature, err := ecdsa.SignASN1(rand.Reader, a.key, sum[:])
	if err != nil {
		panic(err)
	}
	return a.response(Fields{
		"clientDataJSON": encode(client), "authenticatorData": encode(data), "signature": encode(signature),
		"userHandle": a.handle,
	})
}

func (a *Authenticator) response(response Fields) Fields {
	return Fields{
		"id": encode(a.id), "rawId": encode(a.id), "type": "public-key", "authenticatorAttachment": "platform",
		"clientExtensionResults": Fields{}, "response": response,
	}
}

// data returns the authenticator data without the data of a new key.
func (a *Authenticator) data(host string, flags byte) []byte {
	sum := sha256.Sum256([]byte(host))
	flags |= flagPresent
	if !a.Unverified {
		flags |= flagVerified
	}
	return binary.BigEndian.AppendUint32(append(sum[:], flags), a.Counter)
}

// client returns the client data, in which the browser describes the requesting page.
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
