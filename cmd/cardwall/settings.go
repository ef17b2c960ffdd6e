package main

import (
	"errors"
	"fmt"
	"math"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"cardwall/internal/account"
	"cardwall/internal/board"
	"cardwall/internal/sqldb"
)

// checkSettings refuses settings that can be parsed but cannot work. It normalizes the
// base URL.
func (g *globals) checkSettings() (err error) {
	if g.BaseURL, err = normalOrigin("base-url", g.BaseURL); err != nil {
		return err
	}
	for _, limit := range []struct {
		flag  string
		value int
	}{
		{"max-open-cards", g.MaxOpenCards}, {"max-cards", g.MaxCards}, {"max-lists", g.MaxLists}, {"max-labels", g.MaxLabels},
		{"max-checklists", g.MaxChecklists}, {"max-items", g.MaxItems}, {"max-assignees", g.MaxAssignees},
		{"max-board-members", g.MaxBoardMembers}, {"max-rules", g.MaxRules}, {"max-rule-actions", g.MaxRuleActions},
	} {
		if limit.value < 1 {
			return fmt.Errorf("--%s must be 1 or more", limit.flag)
		}
	}
	switch {
	case min(g.StorageFree, g.StorageTeam, g.StorageBusiness) == 0:
		return errors.New("--storage-free, --storage-team and --storage-business must not be 0")
	case g.Litestream && sqldb.IsPostgres(g.Database):
		return errors.New("--litestream requires --database sqlite")
	}
	return nil
}

// checkSettings refuses settings of the server that can be parsed but cannot work.
func (c *serveCommand) checkSettings(g *globals) (err error) {
	switch pace := c.WebhookPace; {
	case c.Drain < 0:
		return errors.New("--drain must not be negative")
	case c.SpoolLimit == 0:
		return errors.New("--spool-limit must not be 0")
	case pace < 0 || math.IsNaN(pace) || math.IsInf(pace, 0):
		return errors.New("--webhook-pace must be 0 or a positive number")
	case c.DatabaseReplica != "" && !sqldb.IsPostgres(g.Database):
		return errors.New("--database-replica requires PostgreSQL (--database)")
	case c.DatabaseReplica != "" && !sqldb.IsPostgres(c.DatabaseReplica):
		return errors.New("--database-replica must be postgres://…")
	}
	for i, origin := range c.CORSOrigins {
		if c.CORSOrigins[i], err = normalOrigin("cors-origins", origin); err != nil {
			return err
		}
	}
	policy, err := account.ParseSignUpPolicy(c.SignUp, g.BaseURL)
	if err != nil {
		return fmt.Errorf("--sign-up: %w", err)
	}
	c.policy, g.signUpClosed = policy, policy.Mode == account.SignUpClosed
	for _, address := range c.Operators {
		email, err := board.NormalEmail(address)
		if err != nil {
			return errors.New("--operators: " + message(err))
		}
		g.operators = append(g.operators, email)
	}
	return nil
}

// network is a network, or one address.
type network struct{ netip.Prefix }

// UnmarshalText parses "10.0.0.0/8" or "10.1.2.3".
func (n *network) UnmarshalText(text []byte) error {
	word := strings.TrimSpace(string(text))
	if ip, err := netip.ParseAddr(word); err == nil && ip.Zone() == "" {
		n.Prefix = netip.PrefixFrom(ip.Unmap(), ip.Unmap().BitLen())
		return nil
	}
	p, err := netip.ParsePrefix(word)
	if err != nil {
		return fmt.Errorf("%q is neither an address nor a network such as 10.0.0.0/8", word)
	}
	n.Prefix = p.Masked()
	return nil
}

func prefixes(networks []network) []netip.Prefix {
	out := make([]netip.Prefix, len(networks))
	for i, n := range networks {
		out[i] = n.Prefix
	}
	return out
}

// normalOrigin returns the address in a flag as browsers write an origin (RFC 6454, 6.1): in
// lower case, without the default port and without a slash at the end. The error does not
// contain the address, because it may contain a password.
func normalOrigin(flag, text string) (string, error) {
	form := "--" + flag + " must be an address such as https://cards.example.com: "
	u, err := url.Parse(text)
	if err != nil {
		return "", errors.New(form + "it is not a URL")
	}
	name := u.Hostname()
	ip, notIP := netip.ParseAddr(name)
	port, notPort := strconv.Atoi(u.Port())
	switch {
	case u.Scheme != "http" && u.Scheme != "https", name == "":
		return "", errors.New(form + "it must begin with http:// or https:// and a host")
	case u.User != nil:
		return "", errors.New(form + "it must not contain a user name")
	case strings.Trim(u.Path, "/") != "":
		return "", errors.New(form + "it must not have a path, because Cardwall needs a host name or a port of its own")
	case strings.ContainsAny(text, "?#"):
		return "", errors.New(form + "it must not have a query or a fragment")
	case strings.Contains(name, "*"):
		return "", errors.New(form + "wildcards are not supported")
	case strings.ContainsFunc(name, func(r rune) bool { return r > '~' }):
		return "", errors.New(form + "its host must be in ASCII, as browsers send it (xn--…)")
	case notIP == nil && ip.IsUnspecified():
		return "", errors.New(form + "its host means all interfaces; give the address that people open (--addr sets where to listen)")
	case u.Port() != "" && (notPort != nil || port < 1 || port > math.MaxUint16):
		return "", errors.New(form + "its port must be from 1 to 65535")
	}
	host := strings.TrimSuffix(strings.ToLower(u.Host), ":")
	if u.Scheme == "http" {
		host = strings.TrimSuffix(host, ":80")
	} else {
		host = strings.TrimSuffix(host, ":443")
	}
	return u.Scheme + "://" + host, nil
}
