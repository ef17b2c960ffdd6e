// Package trace records how long the parts of a request take, as OpenTelemetry
// spans, and sends them to a collector by OTLP over HTTP. It wraps the
// OpenTelemetry SDK (docs/adr/018-traces.md).
//
// Spans are started as children of the span in a context. If there is none, no span
// is started, and all methods of a nil span do nothing. So without a Tracer, tracing
// costs only a nil check. A span contains names, codes, counts and SQL statements. It
// never contains titles, addresses, tokens or arguments.
package trace
