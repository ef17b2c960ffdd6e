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

// The sizes of the tiers and the fingerprint must be those of internal/password. A fingerprint
// is the first five bytes of SHA-256 over the lower-case password.
var tiers = []int{1_000, 10_000, 100_000}

const (
	width = 5  // bytes of a fingerprint
	long  = 10 // minimum length of a password, in characters
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "passwords:", err)
		os.Exit(1)
	}
}

func run() error {
	seen := map[string]bool{}
	lists := make([][][]byte, len(tiers)+1) // the last one has less common passwords that are long enough to be chosen
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		word := strings.Join(strings.Fields(strings.ToLower(lines.Text())), "")
		if word == "" || seen[word] || !utf8.ValidString(word) {
			continue
		}
		seen[word] = true
		tier := slices.IndexFunc(tiers, func(size int) bool { return len(seen) <= size })
		if tier < 0 {
			tier = len(tiers)
			if utf8.RuneCountInString(word) < long {
				continue
			}
		}
		sum := sha256.Sum256([]byte(word))
		lists[tier] = append(lists[tier], sum[:width])
	}
	if err := lines.Err(); err != nil {
		return err
	}
	if len(seen) < tiers[len(tiers)-1] {
		return fmt.Errorf("the list has %d different passwords, fewer than %d", len(seen), tiers[len(tiers)-1])
	}
	out := bufio.NewWriter(os.Stdout)
	for _, list := range lists {
		slices.SortFunc(list, bytes.Compare)
		if err := binary.Write(out, binary.BigEndian, uint32(len(list))); err != nil {
			return err
		}
		for _, sum := range list {
			_, _ = out.Write(sum) // Flush reports it
		}
	}
	return out.Flush()
}
