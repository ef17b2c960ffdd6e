package main

import (
	"math/rand/v2"
	"net/http"
	"slices"
	"testing"

	"cardwall/internal/apptest"
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
			c.awaitWrites(1 + rand.IntN(100))
			stop()
		})
	}
	stop = c.start()
	defer stop()
	c.resend()
	cards := apptest.Await(t, "each card has one comment", func() (cards commentCounts, done bool) {
		cards = c.cardComments()
		return cards, len(cards) > 0 && len(cards.otherThan(1)) == 0
	})
	t.Logf("%d kills, %d cards with one comment each", ruleCrashRounds, len(cards))
}

// commentCounts holds the numbers of comments on cards.
type commentCounts []cardCount

// otherThan returns the cards that have another number of comments than n.
func (all commentCounts) otherThan(n int) commentCounts {
	return slices.DeleteFunc(slices.Clone(all), func(c cardCount) bool { return c.Comments == n })
}

// cardCount is the number of comments on a card.
type cardCount struct {
	ID       string
	Comments int
}

// cardComments returns the number of comments on each card of the board.
func (c *crashServer) cardComments() (all commentCounts) {
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
