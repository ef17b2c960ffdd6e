package hook_test

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"

	"golang.org/x/net/dns/dnsmessage"
)

// zone is an in-memory DNS zone. It returns the addresses of a name, which has no trailing dot. The
// parameter nth counts the lookups of the name from zero, separately for A and AAAA. If there are no
// addresses, the name does not exist. Calls are never concurrent.
type zone func(name string, nth int) []netip.Addr

// resolver returns a Go resolver that queries the zone without sending packets.
func (z zone) resolver() *net.Resolver {
	var mu sync.Mutex
	lookups := map[dnsmessage.Question]int{}
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go func() {
			defer server.Close()
			for {
				// A pipe is not a PacketConn, so each message is prefixed with its length, as over TCP.
				var length [2]byte
				if _, err := io.ReadFull(server, length[:]); err != nil {
					return
				}
				query := make([]byte, binary.BigEndian.Uint16(length[:]))
				if _, err := io.ReadFull(server, query); err != nil {
					return
				}
				var parser dnsmessage.Parser
				header, err := parser.Start(query)
				if err != nil {
					return
				}
				question, err := parser.Question()
				if err != nil {
					return
				}
				mu.Lock()
				nth := lookups[question]
				lookups[question]++
				addrs := z(strings.TrimSuffix(question.Name.String(), "."), nth)
				mu.Unlock()
				if _, err := server.Write(reply(header, question, addrs)); err != nil {
					return
				}
			}
		}()
		return client, nil
	}}
}

// reply returns an encoded DNS response, prefixed with its length.
func reply(header dnsmessage.Header, question dnsmessage.Question, addrs []netip.Addr) []byte {
	m := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: header.ID, Response: true, RecursionAvailable: true},
		Questions: []dnsmessage.Question{question},
	}
	if len(addrs) == 0 {
		m.RCode = dnsmessage.RCodeNameError
	}
	for _, addr := range addrs {
		resource := dnsmessage.Resource{Header: dnsmessage.ResourceHeader{Name: question.Name, Class: question.Class}}
		switch {
		case addr.Is4() && question.Type == dnsmessage.TypeA:
			resource.Body = &dnsmessage.AResource{A: addr.As4()}
		case addr.Is6() && question.Type == dnsmessage.TypeAAAA:
			resource.Body = &dnsmessage.AAAAResource{AAAA: addr.As16()}
		default:
			continue
		}
		m.Answers = append(m.Answers, resource)
	}
	packed, err := m.AppendPack(make([]byte, 2))
	if err != nil {
		panic(err)
	}
	binary.BigEndian.PutUint16(packed, uint16(len(packed)-2))
	return packed
}
