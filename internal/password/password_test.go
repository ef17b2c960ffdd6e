package password

import (
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/argon2"
)

// A password that attackers try early is rejected, even with common variations.
func TestCommonPasswordsAreRejected(t *testing.T) {
	t.Parallel()
	own := []string{"grace.hopper@example.com", "Grace Hopper"}
	for want, words := range map[Verdict][]string{
		Short: {"", "a1B2c3D4e"},
		Long:  {strings.Repeat("staple ", 143)},
		Own: {
			"grace hopper", "Grace.Hopper", "grace.hopper@example.com", "GraceHopper2026!", "reppohecarg", "hopper!hopper!",
			"Cardwall2026!", "cardwallcardwall",
		},
		Common: {
			"Password123!", "Summer2026!", "January2026!", "P@ssw0rd2026", "iloveyou2026!", "!Liverpool99", "1234567890", "qwertyuiop",
			"1qaz2wsx3edc", "PASSWORDPASSWORD",
			"correct horse battery staple", "drowssap123", "azertyuiop1984", "йцукенгшщз", "ｐａｓｓｗｏｒｄ１２３",
		},
		Predictable: {
			"aaaaaaaaaab", "abcdefghijz", "9876543210z", "zyxwvutsrqp", "qwertzuiopü1", "monkeydragon1", "purple elephant", "xkcdxkcdxkcd",
			"x1x1x1x1x1", "aaaaaaaaaabbbbbbbbbb", "p@ssw0rd!p@ssw0rd!", "!QAZ2wsx#EDC", "3141592653", "7294018365", "1984198519861987",
		},
		Good: {
			"correct horse battery", "tulip harbor 47", "kX9#mQ2$vL", "e8f1c0d94b", "пароль из слов", "grace hopper likes boats",
			"Winterreise1828", "ten chars!", "密码是我自己想出来的一句话",
		},
	} {
		for _, word := range words {
			if got := Check(word, own...); got != want {
				t.Errorf("%q: got verdict %d, want %d (%.1f bits)", word, got, want, bits([]rune(word), ownWords(own)))
			}
		}
	}
	if Check("grace hopper 1952", "ada@example.com") == Own {
		t.Error("another person's name: got verdict Own, want another")
	}
}

// The list is complete. Lookups find words of the first tier, and no words that are not on the list.
func TestListIsComplete(t *testing.T) {
	t.Parallel()
	total, rest := 0, common
	for range tierBits {
		n := int(binary.BigEndian.Uint32([]byte(rest[:4])))
		total += n
		rest = rest[4+n*fingerprint:]
	}
	if rest != "" || total < 100_000 {
		t.Errorf("got %d fingerprints and %d trailing bytes, want at least 100,000 and none", total, len(rest))
	}
	for word, want := range map[string]float64{"123456": tierBits[0], "dragon": tierBits[0]} {
		if got, ok := wordBits(word); !ok || got != want {
			t.Errorf("%q: got %v bits, found %t; want %v bits", word, got, ok, want)
		}
	}
	for _, word := range []string{"", "kx9#mq2$vl", "zzzzzqqqqq"} {
		if _, ok := wordBits(word); ok {
			t.Errorf("%q: found on the list, want not found", word)
		}
	}
}

// Checking a password takes less time than the hash that follows, even if it is designed to be slow to
// check.
func TestCheckingIsFast(t *testing.T) {
	t.Parallel()
	best := func(shortest *time.Duration, work func()) {
		began := time.Now()
		work()
		if took := time.Since(began); *shortest == 0 || took < *shortest {
			*shortest = took
		}
	}
	for _, word := range []string{
		strings.Repeat("4@8({[<369&#!1/|71|0$5+7%2", 4), strings.Repeat("a", 999) + "b", strings.Repeat("password1",
			100), strings.Repeat("qwertyuiop", 90), strings.Repeat("\u0301", 500),
	} {
		var check, hash time.Duration
		// Alternate between the two, because the machine may be busy for a while.
		for round := 1; round <= 5 || round <= 50 && check > hash; round++ {
			best(&check, func() { Check(word, "grace@example.com") })
			best(&hash, func() { argon2.IDKey([]byte(word), []byte("a salt"), 2, 19<<10, 1, 32) })
		}
		if check > hash {
			t.Errorf("%.20q… took %s, longer than its hash, which took %s", word, check, hash)
		}
	}
}
