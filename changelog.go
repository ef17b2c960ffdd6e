// Package cardwall holds files of the project that the program shows.
package cardwall

import _ "embed"

// Changelog is the changelog in Markdown.
//
//go:embed CHANGELOG.md
var Changelog string
