package seal_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"cardwall/internal/seal"
)

func ring(t *testing.T, keys ...string) *seal.Keyring {
	t.Helper()
	k, err := seal.Parse(strings.Join(keys, ","))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

const hookContext = "webhook:hook_1:secret"

func TestSealedValueOpensOnlyWithItsContext(t *testing.T) {
	t.Parallel()
	k := ring(t, seal.NewKey())
	for _, plain := range []string{"", "x", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", strings.Repeat("long ", 10_000)} {
		sealed := k.Seal(hookContext, []byte(plain))
		got, err := k.Open(hookContext, sealed)
		if err != nil || string(got) != plain {
			t.Fatalf("opened %q (%v), want %q", got, err, plain)
		}
		if len(plain) > 8 && bytes.Contains(sealed, []byte(plain[:8])) {
			t.Error("the sealed value contains the plain text")
		}
		if bytes.Equal(sealed, k.Seal(hookContext, []byte(plain))) {
			t.Error("sealing twice returned the same bytes, so the nonce is not random")
		}
		for _, other := range []string{"webhook:hook_2:secret", "webhook:hook_1:address", "", hookContext + " "} {
			if got, err := k.Open(other, sealed); !errors.Is(err, seal.ErrDamaged) || got != nil {
				t.Errorf("context %q: opened %q (%v), want ErrDamaged", other, got, err)
			}
		}
	}
}

func TestDamageIsDetected(t *testing.T) {
	t.Parallel()
	k := ring(t, seal.NewKey())
	sealed := k.Seal(hookContext, []byte("secret"))
	for i := range sealed {
		for bit := range 8 {
			damaged := bytes.Clone(sealed)
			damaged[i] ^= 1 << bit
			want := seal.ErrDamaged
			if i >= 1 && i <= 8 { // the id of the key
				want = seal.ErrUnknownKey
			}
			if _, err := k.Open(hookContext, damaged); !errors.Is(err, want) {
				t.Errorf("with bit %d of byte %d changed: got error %v, want %v", bit, i, err, want)
			}
		}
	}
	for n := range sealed {
		if _, err := k.Open(hookContext, sealed[:n]); !errors.Is(err, seal.ErrDamaged) {
			t.Errorf("the first %d bytes: got error %v, want ErrDamaged", n, err)
		}
	}
}

func TestFirstKeySealsAndAllKeysOpen(t *testing.T) {
	t.Parallel()
	old, fresh := seal.NewKey(), seal.NewKey()
	before, both, after := ring(t, old), ring(t, fresh, old), ring(t, fresh)
	sealed := before.Seal(hookContext, []byte("secret"))
	if got, err := both.Open(hookContext, sealed); err != nil || string(got) != "secret" {
		t.Errorf("with both keys: opened %q (%v), want %q", got, err, "secret")
	}
	if !both.Stale(sealed) || before.Stale(sealed) || seal.KeyOf(sealed) != before.Current() {
		t.Errorf("value sealed with %s: got stale %t with the new key and %t with the old key %s, want true and false",
			seal.KeyOf(sealed), both.Stale(sealed), before.Stale(sealed), before.Current())
	}
	if _, err := after.Open(hookContext, sealed); !errors.Is(err, seal.ErrUnknownKey) || !strings.Contains(err.Error(), before.Current()) {
		t.Errorf("without the old key: got error %v, want ErrUnknownKey with its id", err)
	}
	if both.Current() != after.Current() || seal.KeyOf(both.Seal(hookContext, nil)) != after.Current() {
		t.Error("a value was not sealed with the first key")
	}
	under, err := both.SealUnder(before.Current(), hookContext, []byte("secret"))
	if got, open := before.Open(hookContext, under); err != nil || open != nil || string(got) != "secret" {
		t.Errorf("sealed with the second key: opened %q (%v, %v), want %q", got, err, open, "secret")
	}
	if _, err := after.SealUnder(before.Current(), hookContext, nil); !errors.Is(err, seal.ErrUnknownKey) {
		t.Errorf("sealing with a missing key: got error %v, want ErrUnknownKey", err)
	}
	if both.Len() != 2 || !both.Has(before.Current()) || after.Has(before.Current()) || both.Has("?") {
		t.Errorf("got keyrings %v and %v, want two keys and one", both, after)
	}
	if seal.KeyOf([]byte("whsec_plain text")) != "" || !both.Stale(nil) {
		t.Error("got a key id for a value that is not sealed")
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	raw := bytes.Repeat([]byte{0xfb, 0xef, 0x3e, 0x00}, 8)
	want := ring(t, hex.EncodeToString(raw)).Current()
	for _, text := range []string{
		base64.StdEncoding.EncodeToString(raw), base64.RawStdEncoding.EncodeToString(raw), base64.URLEncoding.EncodeToString(raw),
		strings.ToUpper(hex.EncodeToString(raw)), "\n " + hex.EncodeToString(raw) + " ,\r\n", hex.EncodeToString(raw) + "," +
			base64.StdEncoding.EncodeToString(raw),
	} {
		if k, err := seal.Parse(text); err != nil || k.Current() != want || k.Len() != 1 {
			t.Errorf("%q: got %v (%v), want only the key %s", text, k, err, want)
		}
	}
	secret := "correct-horse-battery-staple"
	for _, text := range []string{"", " , \n", secret, hex.EncodeToString(raw[:31]),
		base64.StdEncoding.EncodeToString(append(raw, 1)), seal.NewKey() + "," + secret, seal.NewKey() + " " + seal.NewKey()} {
		k, err := seal.Parse(text)
		if err == nil {
			t.Errorf("%q: got %v, want an error", text, k)
			continue
		}
		for n := 0; n+6 <= len(text); n += 6 {
			if strings.Contains(err.Error(), text[n:n+6]) {
				t.Errorf("got error %v, want one without parts of the key", err)
			}
		}
	}
}

func TestKeyringPrintsNoKey(t *testing.T) {
	t.Parallel()
	raw := bytes.Repeat([]byte{0xa7}, 32)
	k := ring(t, hex.EncodeToString(raw))
	want := "keyring " + k.Current()
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x", "%X", "%t", "%100d"} {
		if got := fmt.Sprintf(verb, k); got != want {
			t.Errorf("%s: got %q, want %q", verb, got, want)
		}
	}
	var out bytes.Buffer
	// The digits of a time could be those of the key.
	withoutTime := &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}
	slog.New(slog.NewTextHandler(&out, withoutTime)).Info("x", "keys", k)
	slog.New(slog.NewJSONHandler(&out, withoutTime)).Info("x", "options", struct{ Keys *seal.Keyring }{k})
	if !strings.Contains(out.String(), want) || strings.Contains(out.String(), "a7a7") || strings.Contains(out.String(), "167") {
		t.Errorf("got log %s, want only the ids of keys", &out)
	}
}

// Values sealed by earlier versions of this program can be opened.
func TestFormatIsStable(t *testing.T) {
	t.Parallel()
	k := ring(t, strings.Repeat("00112233445566778899aabbccddeeff", 2))
	sealed, err := hex.DecodeString("01a60dc5b47ddeea1fe24ae40d0bcb9733613d164a8c732e51d93571b7af068a6ac65134c97091e7b90840942356b0f7aa08fd")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := k.Open(hookContext, sealed); err != nil || string(got) != "whsec_AAECAw==" {
		t.Errorf("opened %q (%v), want %q", got, err, "whsec_AAECAw==")
	}
}

func FuzzOpen(f *testing.F) {
	k, err := seal.Parse(seal.NewKey())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(k.Seal("elsewhere", []byte("secret")))
	f.Add([]byte{1})
	f.Fuzz(func(t *testing.T, sealed []byte) {
		if got, err := k.Open(hookContext, sealed); err == nil {
			t.Errorf("%x: opened %q, want an error", sealed, got)
		}
		seal.KeyOf(sealed)
		k.Stale(sealed)
	})
}
