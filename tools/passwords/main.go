// Command passwords writes the list of common passwords that the server embeds. It reads one
// password per line, the most common first, and writes fingerprints:
//
//	zcat passwords.txt.gz | go run ./tools/passwords > internal/password/common.bin
//
// docs/adr/020-passwords.md names the source of the list.
package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"strings"
	"unicode/utf8"
)

// tiers contains, for each tier, the number of most common passwords up to and including that tier.
// The tiers, and the constants below, must match internal/password. A fingerprint consists of the
// first bytes of the SHA-256 hash of the password in lowercase without spaces.
var tiers = []int{1_000, 10_000, 100_000}

const (
	fingerprintSize   = 5  // bytes
	minPasswordLength = 10 // characters
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "passwords:", err)
		os.Exit(1)
	}
}

func run() error {
	seen := map[string]bool{}
	lists := make([][][]byte, len(tiers)+1) // the last list has the less common passwords that are long enough to be allowed
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		password := strings.Join(strings.Fields(strings.ToLower(lines.Text())), "")
		if password == "" || seen[password] || !utf8.ValidString(password) {
			continue
		}
		seen[password] = true
		tier := slices.IndexFunc(tiers, func(size int) bool { return len(seen) <= size })
		if tier < 0 {
			tier = len(tiers)
			if utf8.RuneCountInString(password) < minPasswordLength {
				continue
			}
		}
		sum := sha256.Sum256([]byte(password))
		lists[tier] = append(lists[tier], sum[:fingerprintSize])
	}
	if err := lines.Err(); err != nil {
		return err
	}
	if len(seen) < tiers[len(tiers)-1] {
		return fmt.Errorf("the list has %d different passwords, want at least %d", len(seen), tiers[len(tiers)-1])
	}
	out := bufio.NewWriter(os.Stdout)
	for _, list := range lists {
		slices.SortFunc(list, bytes.Compare)
		if err := binary.Write(out, binary.BigEndian, uint32(len(list))); err != nil {
			return err
		}
		for _, sum := range list {
			_, _ = out.Write(sum) // Flush returns the error
		}
	}
	return out.Flush()
}
