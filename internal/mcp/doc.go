// Package mcp is the door for AI assistants: a server of the Model Context
// Protocol over Streamable HTTP, revisions 2026-07-28 and 2025-11-25 (and the
// two before them, for old clients), without sessions.
//
// Every operation that is offered to assistants is a tool: same name, same
// input, same checks, same record, one road through op.Engine. Beside them are
// two templates of resources and three prompts, which call operations too. Only
// cmd and apptest import it; it imports op, board, store and session.
//
// Text that people wrote reaches the assistant in named fields, without
// characters that nobody sees, and never as part of what the server itself
// says.
package mcp
