// Package account is the life of a person's account: signing up and in, with a
// password, a passkey or an identity provider, and what guards the account
// afterwards: sessions, tokens, passkeys, the profile and its end.
//
// AddOperations registers all that are operations; Provider serves the two
// addresses that an identity provider sends browsers to.
//
// # What it promises
//
//   - Nobody learns from an answer, or from how long it takes, whether an
//     address has an account: signing up, asking for another password and
//     failing to sign in answer alike. What tells the two apart is done later,
//     where the letter is written.
//   - A password is at rest as argon2id, a session and the link of a letter as
//     SHA-256. None of them is in a log, in the audit or in a stored answer.
//   - Another password ends all other sessions; one that was chosen by a letter
//     ends all.
//   - Guessing is limited for each account and each network.
package account
