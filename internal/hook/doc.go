// Package hook sends deliveries: it takes what the outbox holds, signs it and
// posts it to the addresses of webhooks, and records what came of it.
//
// Engine is a loop that owns a queue for each endpoint (endpoint.go), and the
// goroutines around it that ask the store whether an attempt may be made, make
// it (attempt.go), and record it. Guard decides which addresses may be
// connected to (guard.go, address.go).
//
// # What it promises
//
//   - What was committed is sent at least once, with one id and one body, or its
//     log says why not: also when the server is killed at any moment, and when
//     one of several servers dies (shards.go).
//   - An attempt begins only while the webhook is on, its board not
//     confidential, its owner entitled and the address allowed; this is asked
//     again before each one.
//   - One endpoint delays no other: each has its own queue, at most eight
//     attempts at once, a pace, and, while it fails, one probe at a time.
//   - A receiver can neither hold an attempt longer than twelve seconds nor make
//     it use more memory than a few kilobytes.
//   - Nothing is connected to that the guard refuses, whatever a name resolves
//     to at the moment of connecting. Redirects and proxies are not followed.
package hook
