// Package connect is an OAuth 2.1 authorization server for public clients, so
// that apps can connect without a pasted token. It supports authorization codes
// with PKCE, rotating refresh tokens, the device grant (RFC 8628), dynamic
// registration (RFC 7591), client ID metadata documents, revocation (RFC 7009)
// and discovery (RFC 8414, RFC 9728).
//
// Pages serves the endpoints for apps. AddOperations registers the operations of
// the consent pages.
//
// # Guarantees
//
//   - Only a person who signed in within the last ten minutes can grant access,
//     on a page that shows the app and the host of its redirect URI.
//   - A browser is redirected only to URIs that exactly match a registered one.
//     For loopback URIs the port may differ (RFC 8252, 7.3).
//   - A code or refresh token that is used twice is rejected, and the tokens that
//     were issued for it are revoked.
//   - An access token is a personal API token that expires after an hour. Codes,
//     refresh tokens, device codes and user codes are stored as SHA-256.
//   - The state is in the database, so any server can handle any request.
package connect
