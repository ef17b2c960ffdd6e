package mail_test

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
)

// smtpServer is a local mail server that records the emails it receives.
type smtpServer struct {
	address   string
	mu        sync.Mutex
	responses map[string]string // response to a command, such as "RCPT": "450 later"
	drop      bool              // close the connection after DATA without a response
	received  []email
	commands  []string
	wg        sync.WaitGroup
}

type email struct{ to, data string }

func newSMTP(t *testing.T) *smtpServer { t.Helper(); return newSMTPAt(t, "127.0.0.1") }

func newSMTPAt(t *testing.T, host string) *smtpServer {
	t.Helper()
	listener, err := net.Listen("tcp", host+":0")
	if err != nil {
		t.Fatal(err)
	}
	s := &smtpServer{address: listener.Addr().String(), responses: map[string]string{}}
	s.wg.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			s.wg.Go(func() { s.talk(conn) })
		}
	})
	t.Cleanup(func() { _ = listener.Close(); s.wg.Wait() })
	return s
}

// respond sets the response to a command; "" restores the default.
func (s *smtpServer) respond(command, response string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.responses[command] = response
}

func (s *smtpServer) emails() []email {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]email{}, s.received...)
}

func (s *smtpServer) talk(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	lines := bufio.NewReader(conn)
	say := func(text string) { _, _ = fmt.Fprintf(conn, "%s\r\n", text) }
	say("220 test")
	to := ""
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimRight(line, "\r\n")
		command := strings.ToUpper(strings.SplitN(line, " ", 2)[0])
		s.mu.Lock()
		s.commands = append(s.commands, line)
		refusal, drop := s.responses[command], s.drop
		s.mu.Unlock()
		switch {
		case command == "DATA" && refusal == "":
			say("354 go on")
			var data strings.Builder
			for {
				line, err := lines.ReadString('\n')
				if err != nil {
					return
				}
				if line == ".\r\n" {
					break
				}
				data.WriteString(line)
			}
			s.mu.Lock()
			refusal = s.responses["CONTENT"]
			if refusal == "" {
				s.received = append(s.received, email{to, data.String()})
			}
			s.mu.Unlock()
			if drop {
				return
			}
			if refusal != "" {
				say(strings.ReplaceAll(refusal, "{data}", quotedLink(data.String())))
				continue
			}
			say("250 accepted")
		case refusal != "":
			say(refusal)
		case command == "EHLO":
			say("250-test")
			say("250-8BITMIME")
			say("250 AUTH PLAIN")
		case command == "AUTH":
			say("235 come in")
		case command == "QUIT":
			say("221 bye")
			return
		default:
			if command == "RCPT" {
				to = line
			}
			say("250 fine")
		}
	}
}

// quotedLink returns the link of an email as a server might quote it.
func quotedLink(data string) string {
	_, rest, _ := strings.Cut(strings.ReplaceAll(data, "=\r\n", ""), "https://")
	link, _, _ := strings.Cut(rest, "\r\n")
	return "https://" + link
}
