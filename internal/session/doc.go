// Package session finds out who is asking, and how often: the edge that the
// REST interface and the MCP endpoint share. It checks personal API tokens and
// counts requests against the plan of their owner; it checks the cookies of
// browsers, and that what they send was not made by another site.
//
// It promises that a token or a session which was
// ended, has expired or lost its owner is refused at most a second later, on
// every node.
package session
