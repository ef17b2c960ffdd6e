package session

import "net/http"

// Still refuses when who sent a request would not be let in any more: for
// answers that go on for long. It counts nothing.
func (g *Gate) Still(r *http.Request) error {
	_, err := g.authenticate(r)
	return err
}
