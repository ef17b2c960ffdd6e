// Package mcp serves the Model Context Protocol to AI assistants, over Streamable
// HTTP and without sessions. It supports revision 2026-07-28 and the three before
// it.
//
// An operation is a tool with the same name, input, checks and record, and runs
// through op.Engine. There are also two resource templates and three prompts,
// which call operations.
//
// Text that people wrote reaches the assistant only in named fields, without
// invisible characters, and never as part of the server's own messages.
package mcp
