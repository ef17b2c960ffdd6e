package app_test

import (
	"bytes"
	"net/http"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

// Members see the pictures of everyone in their workspaces. Guests see those of the people on
// their boards. To everyone else, people with and without pictures are the same.
func TestWhoSeesPicturesOfPeople(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		other := ada.Workspace("Looms", board.PlanTeam)
		bob := s.Person("Bob").Joins(workspace, board.WorkspaceMember)
		gus, hal := s.Person("Gus").Joins(workspace, board.WorkspaceGuest), s.Person("Hal").Joins(workspace, board.WorkspaceGuest)
		eve := s.Person("Eve")
		confidential := ada.Must("create_board", fields{"workspaceId": workspace, "name": "Plans", "visibility": "confidential"}).ID()
		on := fields{"userId": ada.ID}
		picture := fields{"content": apptest.Picture(40, 30)}
		check := func(when string, status int, people ...*apptest.Person) {
			t.Helper()
			for _, p := range people {
				if list := p.Must("list_avatars", nil); bytes.Contains(list.Raw, []byte(ada.ID)) != (status == 200) {
					t.Errorf("%s, %s: got the list %s, want it to contain %s: %t", when, p.Name, list.Raw, ada.ID, status == 200)
				}
				if a := p.Call("download_avatar", on); a.Status != status || status == 404 && a.Code != board.CodeNotFound {
					t.Errorf("%s, %s: got status %d, body %.80q; want %d", when, p.Name, a.Status, a.Raw, status)
				}
			}
		}
		check("without a picture", 404, ada, bob, gus, eve)
		ada.Must("set_avatar", picture)
		check("with a picture", 200, ada, bob, bob.With(board.ScopeRead), ada.Within(other), bob.Within(workspace))
		check("with a picture", 404, gus, hal, eve)

		share := func(p *apptest.Person) {
			t.Helper()
			ada.Must("share_board", fields{"boardId": confidential, "userId": p.ID, "role": "viewer"})
		}
		share(gus)
		check("on a board", 200, gus)
		check("on another guest's board", 404, hal)
		hal.Must("set_avatar", picture)
		gus.Refused(board.CodeNotFound, "download_avatar", fields{"userId": hal.ID})
		bob.Must("download_avatar", fields{"userId": hal.ID})
		share(hal)
		gus.Must("download_avatar", fields{"userId": hal.ID})
		ada.Must("trash_board", fields{"boardId": confidential})
		check("with the board in the trash", 404, gus)
		ada.Must("restore_board", fields{"boardId": confidential})
		check("with the board restored", 200, gus)

		// A token for one workspace is not for the people of another one.
		bob.Joins(other, board.WorkspaceMember)
		check("in two workspaces", 200, bob, bob.Within(workspace), bob.Within(other))
		bob.Must("remove_member", fields{"workspaceId": other, "userId": bob.ID})
		carl := s.Person("Carl").Joins(other, board.WorkspaceMember)
		carl.Must("set_avatar", picture)
		ada.Must("download_avatar", fields{"userId": carl.ID})
		ada.Within(workspace).Refused(board.CodeNotFound, "download_avatar", fields{"userId": carl.ID})

		bob.Must("remove_member", fields{"workspaceId": workspace, "userId": bob.ID})
		check("after leaving", 404, bob)
		ada.Must("delete_workspace", fields{"workspaceId": workspace})
		check("with the workspace in the trash", 404, gus)
	})
}

// Boards, members and the profile name the version of the picture. A change of it changes the
// entity tags of boards, on every server.
func TestVersionsOfPicturesOfPeople(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		p := newPair(s, "private", "private")
		reader := p.bob.At(s.Node())
		reads := map[string]fields{
			"open_board":         {"boardId": p.from},
			"list_board_members": {"boardId": p.from},
			"list_cards":         {"boardId": p.from},
		}
		tag := ""
		// check reports whether all responses have the version of Ada's picture, and the list of cards a new tag.
		check := func(when, version string, changed bool) {
			t.Helper()
			for name, in := range reads {
				a := reader.CallWith(name, in, http.Header{"If-None-Match": {tag}})
				if name == "list_cards" {
					if got := a.Status == http.StatusOK; got != changed {
						t.Errorf("%s: got status %d for the cards, want a new tag: %t", when, a.Status, changed)
					}
					tag = a.Header.Get("ETag")
					continue
				}
				path := map[string]string{"open_board": "members.0", "list_board_members": "0"}[name]
				if got, _ := a.Get(path + ".avatar").(string); a.Text(path+".id") != p.ada.ID || got != version {
					t.Errorf("%s: %s returns the picture %q, want %q (%s)", when, name, got, version, a.Raw)
				}
			}
			members := p.ada.Must("list_workspace_members", fields{"workspaceId": p.workspace})
			session := p.ada.Must("get_session", nil)
			for name, got := range map[string]any{"members": members.Get("0.avatar"), "session": session.Get("user.avatar")} {
				if text, _ := got.(string); text != version {
					t.Errorf("%s: the %s name the picture %q, want %q", when, name, text, version)
				}
			}
		}
		check("at first", "", true)
		first := p.ada.Must("set_avatar", fields{"content": apptest.Picture(40, 30)}).Text("avatar")
		check("with a picture", first, true)
		if again := p.ada.Must("set_avatar", fields{"content": apptest.Picture(40, 30)}).Text("avatar"); again != first {
			t.Errorf("the same picture has the version %s, want %s", again, first)
		}
		check("with the same picture", first, false)
		second := p.ada.Must("set_avatar", fields{"content": apptest.Picture(50, 50)}).Text("avatar")
		check("with another picture", second, true)
		if a := p.ada.Must("delete_avatar", nil); a.Get("avatar") != nil {
			t.Errorf("got %s, want no picture", a.Raw)
		}
		check("without a picture", "", true)
		p.ada.Must("delete_avatar", nil)
		check("removed twice", "", false)
		p.ada.Refused(board.CodeNotFound, "download_avatar", fields{"userId": p.ada.ID})
	})
}

// A picture may be cached for long only if the request names its version. It cannot run
// scripts.
func TestHeadersOfPicturesOfPeople(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, t.TempDir()+"/cardwall.db", apptest.Options{})
	ada := s.Person("Ada")
	version := ada.Must("set_avatar", fields{"content": apptest.Picture(40, 30)}).Text("avatar")
	for _, c := range []struct{ version, cache string }{
		{"", "private, no-cache"},
		{"0000000000000000", "private, no-cache"},
		{version, "private, max-age=31536000, immutable"},
	} {
		in := fields{"userId": ada.ID}
		if c.version != "" {
			in["version"] = c.version
		}
		a := ada.Must("download_avatar", in)
		for name, want := range map[string]string{
			"Content-Type": "image/jpeg", "Content-Disposition": `inline; filename="avatar"`, "X-Content-Type-Options": "nosniff",
			"Content-Security-Policy": "sandbox; default-src 'none'", "Cross-Origin-Resource-Policy": "same-origin",
			"Cache-Control": c.cache, "Etag": `"` + version + `"`,
		} {
			if got := a.Header.Get(name); got != want {
				t.Errorf("version %q: got %s: %s, want %s", c.version, name, got, want)
			}
		}
		if a := ada.CallWith("download_avatar", in, http.Header{"If-None-Match": {a.Header.Get("ETag")}}); a.Status != http.StatusNotModified {
			t.Errorf("version %q: got status %d for the same tag, want 304", c.version, a.Status)
		}
	}
}

// Deleting an account deletes the picture.
func TestDeletedAccountHasNoPicture(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		bob := s.Person("Bob").Joins(workspace, board.WorkspaceMember)
		bob.Must("set_avatar", fields{"content": apptest.Picture(40, 30)})
		ada.Must("download_avatar", fields{"userId": bob.ID})
		bob.Must("delete_account", nil)
		ada.Refused(board.CodeNotFound, "download_avatar", fields{"userId": bob.ID})
		if left := s.Column("SELECT user_id FROM avatars UNION ALL SELECT id FROM users WHERE avatar IS NOT NULL"); len(left) > 0 {
			t.Errorf("the pictures of %v are left, want none", left)
		}
	})
}
