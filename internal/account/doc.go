// Package account manages people's accounts: sign-up, and sign-in with a
// password, a passkey or an identity provider; then sessions, tokens, passkeys,
// the profile and the deletion of the account.
//
// AddOperations registers the operations. Provider serves the two paths of the
// OpenID Connect sign-in.
//
// # Guarantees
//
//   - No response, and no response time, reveals whether an email address has an
//     account: sign-up, password reset requests and failed sign-ins respond in
//     the same way. The difference is decided later, when the email is composed.
//   - Passwords are stored as argon2id, session secrets and the secrets of links
//     in emails as SHA-256. None of them is logged, audited or part of a stored
//     response.
//   - A new password ends all other sessions. A password reset ends all sessions.
//   - Guesses are limited per account and per network.
package account
