// Package trace records how long the parts of a request take, as OpenTelemetry
// spans, and sends them to a collector by OTLP over HTTP. It wraps the
// OpenTelemetry SDK (docs/adr/018-traces.md).
//
// Without a Tracer it does nothing and costs only a nil check: spans are
// started below the span in a context, if there is one, and all methods of a
// nil span do nothing. A span holds names, codes, counts and SQL statements. It
// never holds titles, addresses, tokens or arguments.
package trace
