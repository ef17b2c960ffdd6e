package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"
)

const ruleCrashRounds = 6

// TestKillWhileRulesRun repeatedly kills the server with SIGKILL while each new card triggers a
// rule. In the end each card has exactly one comment.
func TestKillWhileRulesRun(t *testing.T) {
	t.Parallel()
	c := newCrash(t)
	stop := c.start()
	c.token = c.command("token", "add", "--user", "ada@example.com", "--name", "rules", "--scopes", "read,write,admin")
	board := c.board()
	if body, status, err := c.exchange("PATCH", "/boards/"+board, "",
		map[string]any{"features": map[string]any{"automation": true}}); err != nil || status != http.StatusOK {
		t.Fatalf("enable automation: %v %s", err, body)
	}
	c.record("POST", "/api/app/v1/boards/"+board+"/rules", "", map[string]any{
		"name": "Welcome", "when": map[string]any{"event": "card_created"},
		"then": []any{map[string]any{"operation": "add_comment", "input": map[string]any{"text": "Welcome."}}},
	})
	stop()
	for round := range ruleCrashRounds {
		stop := c.start()
		c.load(round, func() {
			time.Sleep(time.Duration(100+rand.IntN(300)) * time.Millisecond)
			stop()
		})
	}
	stop = c.start()
	defer stop()
	c.resend()
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		once, other := 0, []string{}
		for _, card := range c.commented() {
			if card.Comments == 1 {
				once++
			} else {
				other = append(other, fmt.Sprintf("%s: %d", card.ID, card.Comments))
			}
		}
		if len(other) == 0 && once > 0 {
			t.Logf("%d kills, %d cards with one comment each", ruleCrashRounds, once)
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d cards have one comment; others have another number: %s", once,
				strings.Join(other[:min(len(other), 10)], ", "))
		}
	}
}

type commentedCard struct {
	ID       string
	Comments int
}

// commented returns all cards of the board with their numbers of comments.
func (c *crash) commented() (all []commentedCard) {
	for cursor := ""; ; {
		var page struct {
			Data       []commentedCard
			NextCursor string
		}
		c.fetch("/boards/"+c.board()+"/cards?view=compact&limit=200&cursor="+cursor, &page)
		all = append(all, page.Data...)
		if cursor = page.NextCursor; cursor == "" {
			return all
		}
	}
}
