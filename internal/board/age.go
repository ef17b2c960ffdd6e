package board

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Age is how long records are kept, or 0 to keep them forever. Its text form
// is a number of days or years, such as "90d" or "3y", or "forever".
type Age time.Duration

// MinAge is the shortest time for which records can be kept. Clients that follow changes
// and people who read the activity rely on recent entries.
const MinAge = Age(30 * 24 * time.Hour)

// UnmarshalText parses an age.
func (a *Age) UnmarshalText(text []byte) error {
	word := strings.TrimSpace(string(text))
	if word == "forever" {
		*a = 0
		return nil
	}
	units := map[byte]time.Duration{'d': 24 * time.Hour, 'y': 365 * 24 * time.Hour}
	if len(word) > 1 {
		n, err := strconv.Atoi(word[:len(word)-1])
		unit := units[word[len(word)-1]]
		if err == nil && n > 0 && n <= 36_500 && unit > 0 {
			if long := Age(n) * Age(unit); long >= MinAge && n*int(unit.Hours()) <= 100*365*24 {
				*a = long
				return nil
			}
		}
	}
	return fmt.Errorf("%q is neither forever nor an age from 30d to 100y, such as 90d or 3y", word)
}
