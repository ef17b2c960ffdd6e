package trace

import (
	"maps"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// The messages of OTLP (opentelemetry/proto/collector/trace/v1), by field
// number. Only a few are needed, so they are encoded here: the official
// exporter depends on gRPC (docs/adr/018-traces.md).

// encode returns an ExportTraceServiceRequest.
func (t *Tracer) encode(spans []*Span) []byte {
	var resource, scope []byte
	all := maps.Clone(t.o.Attributes)
	if all == nil {
		all = map[string]string{}
	}
	all["service.name"], all["service.version"] = t.o.Service, t.o.Version
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if all[name] != "" {
			resource = message(resource, 1, attribute{name: name, text: all[name], isText: true}.encode())
		}
	}
	scope = message(scope, 1, text(text(nil, 1, "cardwall"), 2, t.o.Version))
	for _, s := range spans {
		scope = message(scope, 2, s.encode())
	}
	return message(nil, 1, message(message(nil, 1, resource), 2, scope))
}

// Flags of a span in addition to those of W3C (SpanFlags).
const (
	flagSampled   = 1
	flagHasRemote = 0x100
	flagRemote    = 0x200
)

func (s *Span) encode() []byte {
	b := text(nil, 1, string(s.trace[:]))
	b = text(b, 2, string(s.id[:]))
	b = text(b, 3, s.state)
	flags := uint32(flagSampled | flagHasRemote)
	if s.parent != [8]byte{} {
		b = text(b, 4, string(s.parent[:]))
		if s.remote {
			flags |= flagRemote
		}
	}
	b = text(b, 5, s.name)
	b = protowire.AppendVarint(protowire.AppendTag(b, 6, protowire.VarintType), uint64(s.kind))
	begun := s.begun.UnixNano()
	b = protowire.AppendFixed64(protowire.AppendTag(b, 7, protowire.Fixed64Type), uint64(begun))
	b = protowire.AppendFixed64(protowire.AppendTag(b, 8, protowire.Fixed64Type), uint64(begun+s.took.Nanoseconds()))
	for _, a := range s.attributes {
		b = message(b, 9, a.encode())
	}
	for _, l := range s.links {
		link := text(text(nil, 1, string(l.trace[:])), 2, string(l.span[:]))
		b = message(b, 13, protowire.AppendFixed32(protowire.AppendTag(link, 6, protowire.Fixed32Type), flagSampled|flagHasRemote))
	}
	if s.failed {
		const failed = 2 // STATUS_CODE_ERROR
		b = message(b, 15, protowire.AppendVarint(protowire.AppendTag(nil, 3, protowire.VarintType), failed))
	}
	return protowire.AppendFixed32(protowire.AppendTag(b, 16, protowire.Fixed32Type), flags)
}

// encode returns a KeyValue.
func (a attribute) encode() []byte {
	var value []byte
	if a.isText {
		value = protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), a.text)
	} else {
		value = protowire.AppendVarint(protowire.AppendTag(nil, 3, protowire.VarintType), uint64(a.number))
	}
	return message(text(nil, 1, a.name), 2, value)
}

// text appends a bytes field, unless it is empty.
func text(b []byte, field protowire.Number, value string) []byte {
	if value == "" {
		return b
	}
	return protowire.AppendString(protowire.AppendTag(b, field, protowire.BytesType), value)
}

func message(b []byte, field protowire.Number, value []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), value)
}
