package connect

import "strings"

// guide returns instructions for agents, as Markdown.
func (s *Server) guide() string {
	return strings.ReplaceAll(guideText, "{base}", s.base)
}

const guideText = `# Connecting to Cardwall

This page is for programs and assistants that work on a person's boards at
{base}. You need an access token, which only the person can grant. Never ask
the person for a password.

- REST API:     {base}/api/public/v1 (reference: {base}/docs)
- MCP endpoint: {base}/mcp
- Every request needs the header  Authorization: Bearer TOKEN

An MCP client that supports the MCP authorization specification only needs
{base}/mcp. You can skip the rest of this page.

All endpoints are listed in {base}/.well-known/oauth-authorization-server
(RFC 8414).

## 1. Identify your client

Either use the https address of your client ID metadata document as client_id,
or register once and keep the client_id from the response:

    curl {base}/oauth/register -H 'Content-Type: application/json' -d '{
      "client_name": "Example Assistant",
      "redirect_uris": ["http://127.0.0.1/callback"],
      "grant_types": ["authorization_code", "refresh_token",
                      "urn:ietf:params:oauth:grant-type:device_code"]}'

There are no client secrets. A redirect URI must use https, http on the person's
machine (localhost, 127.0.0.1 or [::1], with any port), or a private scheme with
a dot, such as com.example.app:. A client that nobody authorizes within a week
is deleted. You then get invalid_client and must register again.

## 2a. Without a browser: the device grant (RFC 8628)

    curl {base}/oauth/device_authorization -d client_id=CLIENT_ID -d 'scope=read write'

Show the person verification_uri and user_code from the response, or the link
verification_uri_complete. A person without an account can sign up there. Then
poll every interval seconds:

    curl {base}/oauth/token -d client_id=CLIENT_ID -d device_code=DEVICE_CODE \
      -d grant_type=urn:ietf:params:oauth:grant-type:device_code

authorization_pending means that the person has not decided yet. slow_down means
that you must add five seconds to the interval. access_denied and expired_token
are final.

## 2b. With a browser: a code with PKCE

Create a verifier of 43 to 128 characters and send the person's browser to

    {base}/oauth/authorize?response_type=code&client_id=CLIENT_ID
      &redirect_uri=REDIRECT_URI&state=STATE&scope=read%20write
      &code_challenge=BASE64URL_SHA256_OF_VERIFIER&code_challenge_method=S256
      &resource={base}/mcp

The browser returns to the redirect URI with code, state and iss. Check state,
and check that iss is {base}. Within five minutes, exchange the code:

    curl {base}/oauth/token -d grant_type=authorization_code -d client_id=CLIENT_ID \
      -d code=CODE -d redirect_uri=REDIRECT_URI -d code_verifier=VERIFIER

## 3. Use the token

    curl {base}/api/public/v1/me -H 'Authorization: Bearer ACCESS_TOKEN'

Scopes: read (see what the person sees), write (create and change boards, lists,
cards and comments), admin (share boards, invite people, set up webhooks, move
boards to the trash). The person can grant fewer scopes than you request, and
limit the token to one workspace: see scope in the response, and token in /me.

## 4. Renew the token

An access token expires after an hour. To get a new one:

    curl {base}/oauth/token -d grant_type=refresh_token -d client_id=CLIENT_ID \
      -d refresh_token=REFRESH_TOKEN

Store the refresh_token of the response and use it next time. If the response is
lost, or two of your processes renew at the same time, send the same
refresh_token again within a minute: you get the same response. After that
minute, or once the new refresh_token has been used, using the old one revokes
the connection. A refresh_token expires if it is not used for 90 days.

## 5. Revoke the token

    curl {base}/oauth/revoke -d client_id=CLIENT_ID -d token=REFRESH_TOKEN

The person can also disconnect you at {base}/profile/apps. If you get
invalid_grant when you renew a token, ask the person to connect again.
`
