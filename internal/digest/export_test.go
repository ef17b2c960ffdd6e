package digest

// Cost returns an estimate for a text, in thirds of a token.
func Cost(s string) int { return cost(s) }
