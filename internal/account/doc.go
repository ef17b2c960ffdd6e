// Package account manages people's accounts. It covers sign-up, sign-in (with a
// password, a passkey or an identity provider), sessions, tokens, passkeys, the
// profile and the deletion of the account.
//
// AddOperations registers the operations. Provider serves the two paths of the
// OpenID Connect sign-in.
//
// # Guarantees
//
//   - No response, and no response time, reveals whether an email address has an
//     account: sign-up, password reset requests and failed sign-ins respond in
//     the same way for every address. Only the emails differ. A person with an
//     emailed link learns whether that email's address has an account.
//   - Passwords are stored as argon2id hashes. Session secrets and the secrets in
//     email links are stored as SHA-256 hashes. None of them is logged, audited
//     or part of a stored response.
//   - A new password ends all other sessions. A password reset ends all sessions.
//   - Guesses are limited per account and per network.
package account
