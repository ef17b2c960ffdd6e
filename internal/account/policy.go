package account

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// SignUpPolicy defines who can create an account, with a password or through the
// identity provider. The link for the first account and the command cardwall user add
// ignore the policy.
type SignUpPolicy struct {
	Mode    SignUpMode
	Domains []string // of email addresses, in lower case; for SignUpDomains
}

// SignUpMode is the kind of a SignUpPolicy.
type SignUpMode string

// The modes of sign-up. In all of them except SignUpClosed, people with an
// invitation to a workspace can sign up with the invited address.
const (
	SignUpOpen    SignUpMode = "open"    // anyone
	SignUpInvited SignUpMode = "invited" // only people who were invited
	SignUpDomains SignUpMode = "domains" // only people with an address in certain domains
	SignUpClosed  SignUpMode = "closed"  // nobody
)

// ParseSignUpPolicy parses "open", "invited", "domains:a.example,b.example" or "closed".
// An empty string means open if the host of the base URL is localhost or a loopback
// address, and otherwise invited.
func ParseSignUpPolicy(text, baseURL string) (SignUpPolicy, error) {
	mode, list, listed := strings.Cut(strings.ToLower(strings.TrimSpace(text)), ":")
	p := SignUpPolicy{Mode: SignUpMode(mode)}
	switch {
	case text == "":
		p.Mode = SignUpInvited
		if onLoopback(baseURL) {
			p.Mode = SignUpOpen
		}
		return p, nil
	case p.Mode == SignUpDomains && listed:
		for domain := range strings.SplitSeq(list, ",") {
			domain = strings.TrimSpace(domain)
			if domain == "" || strings.ContainsAny(domain, "@ /*") || !strings.Contains(domain, ".") {
				return p, fmt.Errorf("%q is not the domain of an email address", domain)
			}
			p.Domains = append(p.Domains, domain)
		}
		return p, nil
	case !listed && slices.Contains([]SignUpMode{SignUpOpen, SignUpInvited, SignUpClosed}, p.Mode):
		return p, nil
	}
	return p, fmt.Errorf("%q must be one of open, invited, domains:example.com,… or closed", text)
}

func onLoopback(baseURL string) bool {
	u, err := url.Parse(baseURL)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// admits reports whether an account can be created for an email address.
func (p SignUpPolicy) admits(ctx context.Context, v *store.View, email string) (bool, error) {
	switch p.Mode {
	case SignUpOpen:
		return true, nil
	case SignUpClosed:
		return false, nil
	case SignUpDomains:
		if _, domain, _ := strings.Cut(email, "@"); slices.Contains(p.Domains, domain) {
			return true, nil
		}
	}
	invited, err := v.InvitationsTo(ctx, email)
	return len(invited) > 0, err
}

// errClosed returns the error for an account that the policy does not admit.
func (p SignUpPolicy) errClosed() error {
	if p.Mode == SignUpClosed {
		return board.Forbidden("Sign-up is closed on this server. Ask its operator for an account.")
	}
	return board.Forbidden("Sign-up on this server requires an invitation to this address. " +
		"Ask an owner or admin of a workspace for one.")
}
