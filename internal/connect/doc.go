// Package connect is an OAuth 2.1 authorization server for public clients, so
// that apps can connect without a pasted token. It supports authorization codes
// with PKCE, rotating refresh tokens, the device grant (RFC 8628), dynamic
// registration (RFC 7591), client ID metadata documents, revocation (RFC 7009)
// and discovery (RFC 8414, RFC 9728).
//
// Server.Handlers serves the endpoints for apps. AddOperations registers the operations of
// the consent pages.
//
// # Guarantees
//
//   - Only a person who signed in, or confirmed the sign-in, within the last ten
//     minutes can grant access. The page for this shows the app and, unless it runs
//     on a device without a browser, the host or scheme of its redirect URI.
//   - A browser is redirected only to a URI that exactly matches a registered one.
//     The port of a loopback URI may differ (RFC 8252, 7.3).
//   - A code or refresh token that is used twice is rejected, and the tokens that
//     were issued for it are revoked. A refresh token that is repeated within a
//     minute gets the same response instead.
//   - An access token is a personal API token that expires after an hour. Codes,
//     refresh tokens, device codes and user codes are stored as SHA-256 hashes.
//   - All state of requests and connections is in the database, so any server can
//     handle any request.
package connect
