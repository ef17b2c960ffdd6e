package board_test

import (
	"testing"

	"cardwall/internal/board"
)

// In each mode, guests may at most view, comment and add cards. They may do so only on
// the page's own board, while its public page is enabled and the board is not
// confidential.
func TestGuestCapabilities(t *testing.T) {
	t.Parallel()
	public := board.Features{PublicPage: true}
	own := board.Access{BoardID: "brd_x", Visibility: board.VisibleToWorkspace, Features: public}
	confidential, off, other, private := own, own, own, own
	confidential.Visibility, off.Features, other.BoardID, private.Visibility = board.Confidential, board.Features{}, "brd_y", board.Private
	for _, c := range []struct {
		mode     board.PublicMode
		comments bool
		access   board.Access
		want     []board.Capability
	}{
		{board.PublicRead, true, own, []board.Capability{board.View}},
		{board.PublicComment, true, own, []board.Capability{board.View, board.Discuss}},
		{board.PublicSubmit, true, private, []board.Capability{board.View, board.Discuss, board.AddCards}},
		{board.PublicSubmit, false, own, []board.Capability{board.View, board.AddCards}},
		{board.PublicSubmit, true, confidential, nil},
		{board.PublicSubmit, true, off, nil},
		{board.PublicSubmit, true, other, nil},
	} {
		caller := board.Nobody()
		caller.Guest = &board.Guest{BoardID: "brd_x", Mode: c.mode, Comments: c.comments}
		can := map[board.Capability]bool{}
		for _, capability := range c.want {
			can[capability] = true
		}
		for capability := board.View; capability <= board.Reopen; capability++ {
			if err := c.access.Allow(caller, capability); (err == nil) != can[capability] {
				t.Errorf("%s, comments %v, on %+v: capability %d: got error %v, want success: %v", c.mode, c.comments, c.access,
					capability, err, can[capability])
			}
		}
		// A guest whose key has not been looked up yet has no permissions.
		caller.Guest = &board.Guest{Key: []byte("x")}
		if c.access.Allow(caller, board.View) == nil || c.access.CanSee(caller) {
			t.Error("a guest whose key was not looked up can see the board")
		}
	}
}
