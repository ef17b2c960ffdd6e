package main

import (
	"net/url"

	"cardwall/internal/account"
)

// oidcFlags name an identity provider that signs people in.
type oidcFlags struct {
	OIDCIssuer       string `name:"oidc-issuer" placeholder:"URL" help:"Identity provider (OpenID Connect) that signs people in, by its issuer; none when absent. Its redirect address is BASE-URL/api/app/v1/sign-in/oidc/callback."`
	OIDCClientID     string `name:"oidc-client-id" placeholder:"ID" help:"What the identity provider calls this server."`
	OIDCClientSecret string `name:"oidc-client-secret" placeholder:"SECRET" help:"The secret that goes with it; set it in the environment, for ps shows flags to everyone."`
	OIDCName         string `name:"oidc-name" placeholder:"NAME" help:"What people call the identity provider; its host when absent."`
}

func (f oidcFlags) provider() account.OIDC {
	o := account.OIDC{Issuer: f.OIDCIssuer, ClientID: f.OIDCClientID, ClientSecret: f.OIDCClientSecret, Name: f.OIDCName}
	if u, err := url.Parse(o.Issuer); err == nil && o.Name == "" {
		o.Name = u.Hostname()
	}
	return o
}
