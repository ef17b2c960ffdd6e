package connect

import (
	"strings"
)

// guide describes the ways in to an agent, in plain text.
func (s *Server) guide() string {
	return strings.ReplaceAll(guideText, "{base}", s.base)
}

const guideText = `# Connecting to Cardwall

You are a program, or an assistant, that wants to work on the boards of a person
at {base}. You need an access token, and the person decides whether you get one.
Never ask the person for a password.

- REST interface: {base}/api/public/v1 (reference: {base}/docs)
- MCP endpoint:   {base}/mcp
- Every request carries the header  Authorization: Bearer TOKEN

An MCP client that speaks the MCP authorization specification needs nothing of
what follows: give it {base}/mcp.

All addresses are in {base}/.well-known/oauth-authorization-server (RFC 8414).

## 1. Say who you are

Either use the https address of your client ID metadata document as client_id,
or register once and keep the client_id of the answer:

    curl {base}/oauth/register -H 'Content-Type: application/json' -d '{
      "client_name": "Example Assistant",
      "redirect_uris": ["http://127.0.0.1/callback"],
      "grant_types": ["authorization_code", "refresh_token",
                      "urn:ietf:params:oauth:grant-type:device_code"]}'

There are no client secrets. Redirect addresses are https, http of the person's
own machine (localhost, 127.0.0.1 or [::1]; any port will do), or a scheme of
your own with a dot in it, such as com.example.app:. A registration that is not
used for a week is forgotten; then you get invalid_client, and register again.

## 2a. Without a browser: the device grant (RFC 8628)

    curl {base}/oauth/device_authorization -d client_id=CLIENT_ID -d 'scope=read write'

Show the person verification_uri and user_code from the answer, or the link
verification_uri_complete. Somebody without an account can sign up there. Then
ask every interval seconds:

    curl {base}/oauth/token -d client_id=CLIENT_ID -d device_code=DEVICE_CODE \
      -d grant_type=urn:ietf:params:oauth:grant-type:device_code

authorization_pending means: not yet. slow_down means: wait five seconds longer
between requests. access_denied and expired_token are final.

## 2b. With a browser: a code with PKCE

Make a verifier of 43 to 128 characters and send the person's browser to

    {base}/oauth/authorize?response_type=code&client_id=CLIENT_ID
      &redirect_uri=REDIRECT_URI&state=STATE&scope=read%20write
      &code_challenge=BASE64URL_SHA256_OF_VERIFIER&code_challenge_method=S256
      &resource={base}/mcp

The browser comes back to the redirect address with code, state and iss. Check
state, and that iss is {base}. Within five minutes:

    curl {base}/oauth/token -d grant_type=authorization_code -d client_id=CLIENT_ID \
      -d code=CODE -d redirect_uri=REDIRECT_URI -d code_verifier=VERIFIER

## 3. Use the token

    curl {base}/api/public/v1/me -H 'Authorization: Bearer ACCESS_TOKEN'

Scopes: read (see what the person sees), write (make and change boards, lists,
cards and comments), admin (share boards, invite people, set up webhooks, move
boards to the trash). The person may allow fewer than you ask for, and one
workspace only: look at scope in the answer, and at token in /me.

## 4. Renew it

An access token works for an hour. Then:

    curl {base}/oauth/token -d grant_type=refresh_token -d client_id=CLIENT_ID \
      -d refresh_token=REFRESH_TOKEN

Keep the refresh_token of the response and use it next time. If the response got
lost, or two of your processes renewed at once, send the same refresh_token again
within a minute: you get the same response again. After that minute, or once the
new refresh_token has been used, an old one ends the whole connection. A
refresh_token that is not used for 90 days has expired.

## 5. Give it back

    curl {base}/oauth/revoke -d client_id=CLIENT_ID -d token=REFRESH_TOKEN

The person can do the same at {base}/profile/apps. invalid_grant when you renew
means that it has happened: ask the person again.
`
