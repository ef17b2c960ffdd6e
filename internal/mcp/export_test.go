package mcp

// TakesNames reports whether a field of a tool accepts names.
func TakesNames(tool, field string) bool { return nounOf(tool, field) != "" }
