// Package trace records what a request spends its time on, as spans of
// OpenTelemetry, and sends them to a collector by OTLP over HTTP.
//
// It is off unless a Tracer is made, and then costs a look at a nil pointer: spans
// are begun below the span in a context, where there is one, and every method of a
// span that is nil does nothing. A span holds names, codes, counts and the text of
// SQL. Titles, addresses, tokens and arguments are never put into one.
package trace
