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
	responses map[string]string // by command, such as "RCPT": "450 later"; CONTENT is the end of the data
	drop      bool              // close the connection after the data without a response
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
			s.wg.Go(func() { s.serve(conn) })
		}
	})
	t.Cleanup(func() { _ = listener.Close(); s.wg.Wait() })
	return s
}

// respond sets the response to a command; "" restores the default. In the response to
// CONTENT, {data} is replaced with the link in the email.
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

func (s *smtpServer) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	lines := bufio.NewReader(conn)
	reply := func(text string) { _, _ = fmt.Fprintf(conn, "%s\r\n", text) }
	reply("220 test")
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
		response, drop := s.responses[command], s.drop
		s.mu.Unlock()
		switch {
		case command == "DATA" && response == "":
			reply("354 send data")
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
			response = s.responses["CONTENT"]
			if response == "" {
				s.received = append(s.received, email{to, data.String()})
			}
			s.mu.Unlock()
			if drop {
				return
			}
			if response != "" {
				reply(strings.ReplaceAll(response, "{data}", quotedLink(data.String())))
				continue
			}
			reply("250 accepted")
		case response != "":
			reply(response)
		case command == "EHLO":
			reply("250-test")
			reply("250-8BITMIME")
			reply("250 AUTH PLAIN")
		case command == "AUTH":
			reply("235 authenticated")
		case command == "QUIT":
			reply("221 bye")
			return
		default:
			if command == "RCPT" {
				to = line
			}
			reply("250 ok")
		}
	}
}

// quotedLink returns the link of an email as a mail server might quote it.
func quotedLink(data string) string {
	_, rest, _ := strings.Cut(strings.ReplaceAll(data, "=\r\n", ""), "https://")
	link, _, _ := strings.Cut(rest, "\r\n")
	return "https://" + link
}
