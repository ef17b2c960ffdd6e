package main

import (
	"encoding/json"
	"testing"
)

func TestGreedyDocument(t *testing.T) {
	var document struct {
		Boards []struct {
			Cards    []struct{ ID string }
			Complete bool
		}
		Counts   struct{ Boards, Cards int }
		Complete bool
	}
	if err := json.Unmarshal(greedyDocument("usr_1", "Imported", 3, 4), &document); err != nil {
		t.Fatal(err)
	}
	if len(document.Boards) != 3 || len(document.Boards[2].Cards) != 4 || document.Counts.Boards != 3 || document.Counts.Cards != 12 ||
		!document.Complete || !document.Boards[2].Complete {
		t.Errorf("got document %+v, want 3 boards with 4 cards each", document)
	}
}
