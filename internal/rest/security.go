package rest

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"
)

// securityPath is the path of the file with the contact for vulnerability reports
// (RFC 9116).
const securityPath = "/.well-known/security.txt"

// securityLifetime is the time after which a copy of the file expires. The RFC
// recommends less than a year.
const securityLifetime = 180 * 24 * time.Hour

// securityContact returns the URL for vulnerability reports: the configured contact, or
// by default the mailbox that RFC 2142 defines for the host of the base URL. It returns
// "" if no contact is configured and the base URL uses http, localhost or an IP address.
// It returns an error if the configured contact is not an https: or mailto: URL.
func securityContact(configured, baseURL string) (string, error) {
	if configured != "" {
		u, err := url.Parse(configured)
		if err != nil || u.Scheme != "https" && u.Scheme != "mailto" {
			return "", errors.New("the security contact must be an https: or mailto: URL, such as mailto:security@example.com")
		}
		return u.String(), nil
	}
	u, err := url.Parse(baseURL)
	if err != nil || u.Scheme != "https" || net.ParseIP(u.Hostname()) != nil || u.Hostname() == "localhost" {
		return "", nil
	}
	return "mailto:security@" + u.Hostname(), nil
}

func (h *handler) security(contact string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Cache-Control", "public, max-age=86400")
		expires := time.Now().Add(securityLifetime).UTC().Truncate(24 * time.Hour)
		_, _ = fmt.Fprintf(w, "Contact: %s\nExpires: %s\nCanonical: %s%s\nPreferred-Languages: en\n",
			contact, expires.Format(time.RFC3339), h.BaseURL, securityPath)
	}
}
