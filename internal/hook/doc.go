// Package hook sends webhook deliveries. It reads the outbox, signs each
// delivery, posts it to the webhook's URL and records the result.
//
// Engine runs a loop that owns a queue per endpoint (endpoint.go). Goroutines
// around it ask the store whether an attempt is still allowed, make it
// (attempt.go), and record it. Guard decides which addresses may be connected
// to (guard.go, address.go).
//
// # Guarantees
//
//   - Every committed delivery is sent at least once, always with the same id and
//     body, or its log says why not. This holds even if a server is killed at any
//     moment, or one of several servers fails (shards.go).
//   - An attempt starts only if the webhook is on, its board is not confidential,
//     its owner is still entitled and the address is allowed. This is checked
//     before every attempt.
//   - No endpoint delays another. Each has its own queue, at most eight concurrent
//     attempts, a rate limit and, while it fails, one probe at a time.
//   - A receiver cannot make an attempt last longer than twelve seconds, or use
//     more than a few kilobytes of memory.
//   - No connection is made to an address that the guard refuses, whatever a name
//     resolves to when the connection is made. Redirects and proxies are not
//     followed.
package hook
