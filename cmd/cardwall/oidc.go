package main

import (
	"net/url"

	"cardwall/internal/account"
)

// oidcFlags holds the flags that configure an identity provider for sign-in.
type oidcFlags struct {
	OIDCIssuer       string `name:"oidc-issuer" placeholder:"URL" help:"${help_oidc_issuer}"`
	OIDCClientID     string `name:"oidc-client-id" placeholder:"ID" help:"Client id of this server at the identity provider."`
	OIDCClientSecret string `name:"oidc-client-secret" placeholder:"SECRET" help:"${help_oidc_client_secret}"`
	OIDCTrustEmail   bool   `name:"oidc-trust-email" help:"${help_oidc_trust_email}"`
	OIDCName         string `name:"oidc-name" placeholder:"NAME" help:"Name of the provider on the sign-in page (default: its host)."`
}

func (f oidcFlags) provider() account.OIDC {
	o := account.OIDC{Issuer: f.OIDCIssuer, ClientID: f.OIDCClientID, ClientSecret: f.OIDCClientSecret, Name: f.OIDCName,
		TrustEmail: f.OIDCTrustEmail}
	if u, err := url.Parse(o.Issuer); err == nil && o.Name == "" {
		o.Name = u.Hostname()
	}
	return o
}
