package dbtool_test

import (
	"slices"
	"strings"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/dbtool"
)

// repairByChoice checks that Examine still reports a problem and advises to restore a
// backup, and then repairs the problem by choice.
func (c *doctorWorld) repairByChoice(choice dbtool.Choice, want string) {
	c.T.Helper()
	about := func(line string) bool {
		return strings.Contains(line, want) && strings.Contains(line, "restore the latest backup") &&
			strings.Contains(line, "--repair "+string(choice))
	}
	if lines := c.examine(); !slices.ContainsFunc(lines, about) {
		c.T.Errorf("got findings %q after a repair without %s, want %q to remain", lines, choice, want)
	}
	var chosen []string
	n, err := dbtool.Repair(c.T.Context(), c.DB, dbtool.RepairOptions{Choices: []dbtool.Choice{choice}, Chosen: func(problem string) {
		chosen = append(chosen, problem)
	}})
	if err != nil || len(chosen) > n || !strings.Contains(strings.Join(chosen, "\n"), want) {
		c.T.Errorf("got %d repairs by %s, of %q (%v), want those of %q", n, choice, chosen, err, want)
	}
}

// Where a title and its search index entry differ, Repair changes neither of them. The doctor used
// to adopt a damaged title by indexing it again. The entries of an earlier version are replaced only
// on cards without such a difference, because the repair of a card replaces all its entries.
func TestRepairKeepsTheIndexOfDamagedText(t *testing.T) {
	t.Parallel()
	apptest.Databases(t, func(t *testing.T, database string) {
		c := newDoctorWorld(t, database)
		entries := "SELECT words FROM texts WHERE card_id = $1 AND place IN ('title', 'description') ORDER BY place DESC"
		apptest.Change(t, c.DB, "UPDATE cards SET description = '백업을'")
		apptest.Change(t, c.DB, "UPDATE texts SET words = ' 백업을 ' WHERE place = 'description'")
		apptest.Change(t, c.DB, "UPDATE cards SET title = 'C~rd 89 paint' WHERE id = $1", c.card)
		n, err := dbtool.Repair(t.Context(), c.DB, dbtool.RepairOptions{})
		if err != nil || n != 89 {
			t.Errorf("got %d repairs (%v), want 89", n, err)
		}
		if got, want := c.Column(entries, c.card), []string{" card 89 paint ", " 백업을 "}; !slices.Equal(got, want) {
			t.Errorf("got entries %q of the damaged card, want %q", got, want)
		}
		other := c.Column("SELECT id FROM cards WHERE id <> $1 ORDER BY id LIMIT 1", c.card)[0]
		if got, want := c.Column(entries, other), []string{" card 0 paint ", " 백 업 을 "}; !slices.Equal(got, want) {
			t.Errorf("got entries %q of another card, want %q", got, want)
		}
		c.repairByChoice(dbtool.Reindex, "title of card "+c.card+": the text and the search index differ")
		if got, want := c.Column(entries, c.card), []string{" c rd 89 paint ", " 백 업 을 "}; !slices.Equal(got, want) {
			t.Errorf("got entries %q after the choice, want %q", got, want)
		}
		c.CheckConsistency()
	})
}

// If a list is lost, Repair keeps its cards. The doctor used to delete them as orphans.
func TestRepairKeepsRowsOfALostParent(t *testing.T) {
	t.Parallel()
	apptest.Databases(t, func(t *testing.T, database string) {
		c := newDoctorWorld(t, database)
		cards := "SELECT id FROM cards ORDER BY id"
		before := c.Column(cards)
		damage(t, database, "DELETE FROM lists WHERE id = '"+c.list+"'")
		if _, err := dbtool.Repair(t.Context(), c.DB, dbtool.RepairOptions{}); err != nil {
			t.Error(err)
		}
		if after := c.Column(cards); !slices.Equal(after, before) {
			t.Errorf("got %d cards after the repair, want %d", len(after), len(before))
		}
		c.repairByChoice(dbtool.DeleteOrphans, "cards.list_id: "+c.list+" is not in lists")
		if after := c.Column(cards); len(after) > 0 {
			t.Errorf("got %d cards after the choice, want 0", len(after))
		}
	})
}

// If a change has a wrong version, the sequence has gaps, and Repair does not give the board that
// version.
func TestRepairKeepsTheVersionOfABoardWithGaps(t *testing.T) {
	t.Parallel()
	apptest.Databases(t, func(t *testing.T, database string) {
		c := newDoctorWorld(t, database)
		version := "SELECT CAST(version AS TEXT) FROM boards WHERE id = $1"
		before := c.Column(version, c.board)
		damage(t, database, "UPDATE activity SET version = 1000 WHERE board_id = '"+c.board+"' AND version = 2")
		if _, err := dbtool.Repair(t.Context(), c.DB, dbtool.RepairOptions{}); err != nil {
			t.Error(err)
		}
		if after := c.Column(version, c.board); !slices.Equal(after, before) {
			t.Errorf("got board version %s after the repair, want %s", after, before)
		}
		if lines := c.examine(); !slices.ContainsFunc(lines, func(line string) bool {
			return strings.Contains(line, "board "+c.board+": the sequence of its changes has gaps; restore the latest backup")
		}) {
			t.Errorf("got findings %q after the repair, want the gaps to remain", lines)
		}
	})
}
