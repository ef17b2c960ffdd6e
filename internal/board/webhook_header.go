package board

import (
	"net/url"
	"strings"
)

// WebhookHeader is a header that is sent with each delivery of a webhook. Its value is
// stored encrypted and never returned.
type WebhookHeader struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// MaxHeaderValue is the maximum length of a webhook header's value in bytes.
const MaxHeaderValue = 1024

// ReservedHeaders returns the names, in lower case, that a webhook's headers must not have.
// A name that ends with * stands for all names that begin with the text before it. Cardwall
// or the HTTP transport sets these headers, or they would make the receiver's network trust
// the request or treat it differently.
func ReservedHeaders() []string {
	return []string{
		"accept-encoding", "connection", "content-*", "cookie", "date", "expect", "forwarded", "host", "http2-settings",
		"idempotency-key", "keep-alive", "metadata*", "proxy-*", "sec-*", "service-*", "te", "trailer", "transfer-encoding",
		"upgrade", "user-agent", "via", "webhook-*", "x-aws-ec2-metadata-*", "x-forwarded-*", "x-http-method*",
		"x-idempotency-key", "x-original-*", "x-real-ip", "x-rewrite-url",
	}
}

// headerName describes the names that CheckHeaderName allows.
const headerName = "a token (RFC 9110, 5.6.2), and not "

// CheckHeaderName returns an invalid_request error unless a webhook's header may have the
// name. Field is the path of the name in the input.
func CheckHeaderName(field, name string) error {
	reserved := ReservedHeaders()
	ok := name != "" && !strings.ContainsFunc(name, func(c rune) bool { return !isTokenChar(c) })
	for _, r := range reserved {
		prefix, wildcard := strings.CutSuffix(r, "*")
		lower := strings.ToLower(name)
		ok = ok && lower != r && !(wildcard && strings.HasPrefix(lower, prefix))
	}
	if ok {
		return nil
	}
	return InvalidValue(field, headerName+"one of "+strings.Join(reserved, ", "))
}

// isTokenChar reports whether a token may contain the character (RFC 9110, 5.6.2).
func isTokenChar(c rune) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.ContainsRune("!#$%&'*+-.^_`|~", c)
}

// CheckHeaderValue returns an invalid_request error unless a webhook's header may have the
// value. The error does not contain the value. Field is the path of the value in the input.
func CheckHeaderValue(field, value string) error {
	visible := !strings.ContainsFunc(value, func(c rune) bool { return c < ' ' || c > '~' })
	if visible && value != "" && len(value) <= MaxHeaderValue && strings.Trim(value, " ") == value {
		return nil
	}
	return InvalidValue(field, "1 to 1024 visible ASCII characters and spaces, without spaces at the start or end")
}

// Origin returns the scheme, host and port of a URL, which identify the receiver to which
// the headers of a webhook may be sent. It returns "" if the URL is not valid.
func Origin(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return ""
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return u.Scheme + "://" + strings.ToLower(u.Hostname()) + ":" + port
}
