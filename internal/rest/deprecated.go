package rest

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// deprecated serves the earlier path of an operation that became part of the public API.
// The response says since when the path is deprecated (RFC 9745), when it may be removed at the
// earliest (RFC 8594), and which one replaces it (RFC 5829, 3.5).
func deprecated(since time.Time, next http.Handler) http.Handler {
	date, sunset := fmt.Sprintf("@%d", since.Unix()), since.AddDate(1, 0, 0).Format(http.TimeFormat)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		successor := Prefix + strings.TrimPrefix(r.URL.EscapedPath(), ApplicationPrefix)
		w.Header().Set("Deprecation", date)
		w.Header().Set("Sunset", sunset)
		w.Header().Set("Link", "<"+successor+`>; rel="successor-version"`)
		next.ServeHTTP(w, r)
	})
}
