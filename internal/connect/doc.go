// Package connect lets programs in without a pasted token: an authorization
// server of the service's own, at the same host. It is OAuth 2.1 for public
// clients: codes with PKCE, refresh tokens that change with each use, the device
// grant (RFC 8628), dynamic registration (RFC 7591), client ID metadata
// documents, revocation (RFC 7009), and the documents by which clients find all
// of it (RFC 8414, RFC 9728).
//
// Pages serves the addresses that programs use; AddOperations registers what the
// pages of the application ask on behalf of a person.
//
// # What it promises
//
//   - Nothing is allowed but by a person who has signed in within the last ten
//     minutes, on a page that names the program and the host it returns to.
//   - Nobody is sent to an address that the program did not register, letter by
//     letter; of the addresses of one's own machine any port will do (RFC 8252,
//     7.3).
//   - A code or refresh token that comes a second time is refused and ends what
//     the first was given.
//   - What comes out is a personal API token, that works for an hour. Codes,
//     refresh tokens, device codes and what people type are at rest as SHA-256.
//   - No server keeps what another needs: of several on one database any may
//     answer any request.
package connect
