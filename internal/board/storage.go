package board

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// RecordBytes is the storage that is counted for each record (card, comment,
// checklist, item, list, label, status update, board or activity entry) in addition
// to its text. It approximates the space for identifiers, times and indexes.
const RecordBytes = 256

// Bytes is an amount of storage. Its text form uses decimal units, such as
// "250 MB".
type Bytes int64

var byteUnits = []string{"bytes", "kB", "MB", "GB", "TB", "PB"}

// String returns the amount with at most one decimal. It rounds down, so that an amount
// just below a limit of 250 MB is not shown as 250 MB.
func (b Bytes) String() string {
	value, unit := float64(b), 0
	for value >= 1000 && unit < len(byteUnits)-1 {
		value, unit = value/1000, unit+1
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", math.Floor(value*10)/10), ".0") + " " + byteUnits[unit]
}

// UnmarshalText parses a positive number with a unit, "250MB" or "1.5 GB", or "0".
func (b *Bytes) UnmarshalText(text []byte) error {
	word := strings.TrimSpace(string(text))
	if word == "0" {
		*b = 0
		return nil
	}
	at := strings.IndexFunc(word, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
	if at > 0 {
		value, err := strconv.ParseFloat(word[:at], 64)
		for i, unit := range byteUnits {
			if err != nil || !strings.EqualFold(strings.TrimSpace(word[at:]), unit) {
				continue
			}
			if value *= math.Pow(1000, float64(i)); value >= 1 && value < math.MaxInt64 {
				*b = Bytes(value)
				return nil
			}
		}
	}
	return fmt.Errorf("%q is not an amount of storage, such as 250MB or 25GB", word)
}
