package main

import (
	"strconv"

	"cardwall/perf/client"
)

// mcpPath is the path of the MCP server.
const mcpPath = "/mcp"

// toolSource fetches random cards with the get_card tool, using one revision of the protocol.
type toolSource struct {
	getSource
	revision string
	serial   int
}

func (s *toolSource) next(r *client.Request) error {
	id := s.cards[s.random.IntN(len(s.cards))].id
	s.id = id
	s.serial++
	r.Reset("POST", 200)
	r.Path = append(r.Path, mcpPath...)
	r.Head = append(r.Head, "Accept: application/json, text/event-stream\r\nMcp-Protocol-Version: "...)
	r.Head = append(append(r.Head, s.revision...), "\r\n"...)
	r.Body = append(r.Body, `{"jsonrpc":"2.0","id":`...)
	r.Body = strconv.AppendInt(r.Body, int64(s.serial), 10)
	r.Body = append(r.Body, `,"method":"tools/call","params":{"name":"get_card","arguments":{"cardId":"`...)
	r.Body = append(append(r.Body, id...), `"}`...)
	if s.revision == statelessRevision {
		r.Head = append(r.Head, "Mcp-Method: tools/call\r\nMcp-Name: get_card\r\n"...)
		r.Body = append(r.Body, `,"_meta":{"io.modelcontextprotocol/protocolVersion":"`+statelessRevision+
			`","io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`...)
	}
	r.Body = append(r.Body, `}}`...)
	return nil
}

// The revisions of the Model Context Protocol to measure.
const (
	statelessRevision = "2026-07-28"
	sessionRevision   = "2025-11-25"
)

// toolBenchmarks returns benchmarks that fetch a card with a tool and over REST.
func (s *suite) toolBenchmarks() []benchmark {
	cards := func(make func(getSource) source) prepareFunc {
		return onBoard("Ten thousand", 10_000, func(b *board, _, _ int) source {
			return make(getSource{random: s.random(), cards: b.cards})
		})
	}
	return []benchmark{
		{name: nameToolRest, clients: s.clients, sources: cards(func(g getSource) source { return &g }), interleaved: true},
		{name: nameTool, clients: s.clients, sources: cards(func(g getSource) source {
			return &toolSource{getSource: g, revision: statelessRevision}
		}), interleaved: true},
		{name: nameToolOld, clients: s.clients, sources: cards(func(g getSource) source {
			return &toolSource{getSource: g, revision: sessionRevision}
		}), interleaved: true},
	}
}
