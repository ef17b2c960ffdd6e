package rest

import (
	"net/http"
	"slices"

	"github.com/rs/cors"
)

// preflightSeconds is how long browsers may cache the response to a preflight request. They limit
// it to between two hours and a day.
const preflightSeconds = 24 * 60 * 60

// shareWith returns a handler that lets pages of the given origins read the responses of next
// (Fetch standard, 3.2). It never allows cookies, so a page needs a token.
func shareWith(origins []string, next http.Handler) http.Handler {
	if len(origins) == 0 {
		return next
	}
	return cors.New(cors.Options{
		AllowOriginFunc: func(origin string) bool { return slices.Contains(origins, origin) },
		AllowedMethods: []string{
			http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		},
		AllowedHeaders: []string{"*"},
		ExposedHeaders: exposedHeaders(),
		MaxAge:         preflightSeconds,
	}).Handler(next)
}
