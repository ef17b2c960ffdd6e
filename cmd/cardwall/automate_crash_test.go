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

// TestSystemKillWhileRulesRun repeatedly kills the server with SIGKILL while each new card triggers
// a rule. At the end, each card must have exactly one comment.
func TestSystemKillWhileRulesRun(t *testing.T) {
	t.Parallel()
	c := newCrashServer(t)
	stop := c.start()
	c.token = c.command("token", "add", "--user", "ada@example.com", "--name", "rules", "--scopes", "read,write,admin")
	board := c.board()
	if body, status, err := c.do("PATCH", "/boards/"+board, "",
		map[string]any{"features": map[string]any{"automation": true}}); err != nil || status != http.StatusOK {
		t.Fatalf("enable automation: %v %s", err, body)
	}
	c.mustSend("POST", "/api/app/v1/boards/"+board+"/rules", "", map[string]any{
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
		correct, wrong := 0, []string{}
		for _, card := range c.cardComments() {
			if card.Comments == 1 {
				correct++
			} else {
				wrong = append(wrong, fmt.Sprintf("%s: %d", card.ID, card.Comments))
			}
		}
		if len(wrong) == 0 && correct > 0 {
			t.Logf("%d kills, %d cards with one comment each", ruleCrashRounds, correct)
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("got %d cards with one comment and %d with another number, want exactly one comment on each card: %s", correct, len(wrong),
				strings.Join(wrong[:min(len(wrong), 10)], ", "))
		}
	}
}

// cardCount is the number of comments on a card.
type cardCount struct {
	ID       string
	Comments int
}

// cardComments returns the number of comments on each card of the board.
func (c *crashServer) cardComments() (all []cardCount) {
	for cursor := ""; ; {
		var page struct {
			Data       []cardCount
			NextCursor string
		}
		c.get("/boards/"+c.board()+"/cards?view=compact&limit=200&cursor="+cursor, &page)
		all = append(all, page.Data...)
		if cursor = page.NextCursor; cursor == "" {
			return all
		}
	}
}
