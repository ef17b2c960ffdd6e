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
//   - Unless its webhook is deleted, every committed delivery is sent at least once, or
//     its log explains why it was not. Its id and body never change. This holds even if
//     a server is killed at any moment, or one of several servers fails (shards.go).
//   - An attempt starts only if the webhook is on, its board is not confidential,
//     its owner may still manage it and the address is allowed. The engine checks this
//     before every attempt. For a test event, the webhook may be off, and its owner is
//     not checked.
//   - No endpoint delays another. Each has its own queue, at most eight concurrent
//     attempts, a rate limit and, while it fails, one probe at a time.
//   - A receiver cannot make an attempt last longer than twelve seconds, or use
//     more than a few dozen kilobytes of memory.
//   - No connection is made to an address that the guard rejects. If the host is a name,
//     the guard checks the address to which it resolves at that moment. Redirects are not
//     followed, and proxies are not used.
package hook
