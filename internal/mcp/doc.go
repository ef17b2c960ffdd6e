// Package mcp serves the Model Context Protocol to AI assistants, over Streamable
// HTTP and without sessions. It supports revision 2026-07-28 and the three previous
// revisions.
//
// Each public operation, unless it has the op.NoTool option, is a tool with the same
// name, input, checks and output. Tools run through op.Engine. There are also three
// prompts, and two resource templates whose content comes from operations.
//
// Where an operation takes an id, a tool also accepts the name of the record. A name that
// does not match exactly one record that the caller can see is an error.
//
// The list of resources contains the caller's starred and recently opened boards.
//
// Text that people wrote is sent to the assistant only in named fields, without
// invisible characters, and never as part of the server's own messages. There is one
// exception: the description of a board in the list of resources ends with the name of
// its workspace.
package mcp
