package mail_test

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
)

// smtpServer is a mail server on this machine that keeps what it takes.
type smtpServer struct {
	address string
	mu      sync.Mutex
	refuse  map[string]string // the answer to a command, such as "RCPT": "450 later"
	drop    bool              // hang up after DATA, without an answer
	taken   []letter
	said    []string // every command
	wg      sync.WaitGroup
}

type letter struct{ to, data string }

func newSMTP(t *testing.T) *smtpServer { t.Helper(); return newSMTPAt(t, "127.0.0.1") }

func newSMTPAt(t *testing.T, host string) *smtpServer {
	t.Helper()
	listener, err := net.Listen("tcp", host+":0")
	if err != nil {
		t.Fatal(err)
	}
	s := &smtpServer{address: listener.Addr().String(), refuse: map[string]string{}}
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

// answers sets what a command is answered; "" is the ordinary answer.
func (s *smtpServer) answers(command, answer string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuse[command] = answer
}

func (s *smtpServer) letters() []letter {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]letter{}, s.taken...)
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
		s.said = append(s.said, line)
		refusal, drop := s.refuse[command], s.drop
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
			refusal = s.refuse["CONTENT"]
			if refusal == "" {
				s.taken = append(s.taken, letter{to, data.String()})
			}
			s.mu.Unlock()
			if drop {
				return
			}
			if refusal != "" {
				say(strings.ReplaceAll(refusal, "{data}", quotedLink(data.String())))
				continue
			}
			say("250 taken")
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

// quotedLink is the link of a letter as a server might quote it.
func quotedLink(data string) string {
	_, rest, _ := strings.Cut(strings.ReplaceAll(data, "=\r\n", ""), "https://")
	link, _, _ := strings.Cut(rest, "\r\n")
	return "https://" + link
}
