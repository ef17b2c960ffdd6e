// Package session finds out who is asking, and how often: the edge that the
// REST interface and the MCP endpoint share. It checks personal API tokens and
// counts requests against the plan of their owner.
//
// It imports store and board. It promises that a token which was revoked, has
// expired or lost its owner is refused at most a second later, on every node.
package session
