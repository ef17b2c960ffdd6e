package app_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"cardwall/internal/app"
	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

// The changes of every operation are complete. A client that applies them to the previous state of
// the boards gets their new state.
func TestChangesOfEveryOperationAreComplete(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		boards := []string{w.board, w.second}
		initial, before := map[string]record{}, map[string]record{}
		for _, id := range boards {
			initial[id] = boardState(w.owner, id)
			checkReplay(t, w.owner, initial[id], initial[id], 1) // checks the mirror itself
		}
		for _, o := range s.Registry.All() {
			if o.ReadOnly || o.Name == "change_member" || o.Name == "remove_member" {
				continue // board changes do not include changes to workspace members
			}
			in := w.sample(t, o)
			for _, id := range boards {
				before[id] = boardState(w.owner, id)
			}
			w.as(o).Must(o.Name, in)
			t.Run(o.Name, func(t *testing.T) {
				for _, id := range boards {
					checkReplay(t, w.owner, before[id], boardState(w.owner, id), 200)
				}
			})
		}
		for _, id := range boards {
			checkReplay(t, w.owner, initial[id], boardState(w.owner, id), 3)
		}
	})
}

// A client that has the state of a board at any version and applies the later changes gets the
// current state, with any page size of list_board_changes.
func TestReplayFromAnyVersionIsComplete(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada, bob := s.Person("Ada"), s.Person("Bob")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		bob.Joins(workspace, board.WorkspaceAdmin)
		rapid.Check(t, func(rt *rapid.T) {
			sim := newSimulation(ada, bob, workspace)
			for range 3 {
				for _, id := range sim.ids["boards"] {
					sim.takeSnapshot(sim.anyPerson(rt), id)
				}
				rt.Repeat(sim.actions())
			}
			for _, id := range sim.ids["boards"] {
				current := map[*apptest.Person]record{}
				for _, s := range sim.snapshots[id] {
					if s.p.Call("get_board", fields{"boardId": id}).Status == http.StatusNotFound {
						continue // the board has become private
					}
					if current[s.p] == nil {
						current[s.p] = boardState(s.p, id)
					}
					checkReplay(rt, s.p, s.state, current[s.p], rapid.SampledFrom([]int{1, 2, 7, 200}).Draw(rt, "page size"))
				}
			}
		})
	})
}

// simulation is two people who work on two boards, with the board states that they have read.
type simulation struct {
	workspace string
	people    []*apptest.Person
	ids       map[string][]string   // IDs of objects by kind, such as "cards"
	snapshots map[string][]snapshot // by board ID
}

// snapshot is the state of a board as a person has read it.
type snapshot struct {
	p     *apptest.Person
	state record
}

func newSimulation(ada, bob *apptest.Person, workspace string) *simulation {
	p := &simulation{workspace: workspace, people: []*apptest.Person{ada, bob},
		ids: map[string][]string{"people": {ada.ID, bob.ID}}, snapshots: map[string][]snapshot{}}
	for _, name := range []string{"One", "Other"} {
		id := ada.Must("create_board", fields{"workspaceId": workspace, "name": name}).ID()
		p.ids["boards"] = append(p.ids["boards"], id)
		for i := range 2 {
			list := ada.Must("create_list", fields{"boardId": id, "name": fmt.Sprint(name, i)}).ID()
			p.ids["lists"] = append(p.ids["lists"], list)
			label := ada.Must("create_label", fields{"boardId": id, "name": fmt.Sprint("Label ", i), "color": "red"}).ID()
			p.ids["labels"] = append(p.ids["labels"], label)
			for _, title := range []string{"Open", "Also open", "Archived"} {
				card := ada.Must("create_card",
					fields{"listId": list, "title": title, "labels": []string{label}, "assignees": p.ids["people"]}).ID()
				p.ids["cards"] = append(p.ids["cards"], card)
				steps := ada.Must("add_checklist", fields{"cardId": card, "title": "Steps", "items": []string{"one", "two"}})
				p.ids["checklists"] = append(p.ids["checklists"], steps.ID())
				p.ids["items"] = append(p.ids["items"], steps.Text("items.0.id"), steps.Text("items.1.id"))
				p.ids["comments"] = append(p.ids["comments"],
					ada.Must("add_comment", fields{"cardId": card, "text": "First."}).ID())
			}
			ada.Must("archive_card", fields{"cardId": p.ids["cards"][len(p.ids["cards"])-1]})
		}
	}
	return p
}

// pick draws the ID of an existing object of a kind.
func (p *simulation) pick(rt *rapid.T, kind string) string {
	if len(p.ids[kind]) == 0 {
		rt.Skip("there are no " + kind)
	}
	return rapid.SampledFrom(p.ids[kind]).Draw(rt, kind)
}

func (p *simulation) anyPerson(rt *rapid.T) *apptest.Person {
	return p.people[rapid.IntRange(0, len(p.people)-1).Draw(rt, "person")]
}

// takeSnapshot stores the current state of a board if the person can see the board.
func (p *simulation) takeSnapshot(person *apptest.Person, id string) {
	if person.Call("get_board", fields{"boardId": id}).Status == http.StatusOK {
		p.snapshots[id] = append(p.snapshots[id], snapshot{person, boardState(person, id)})
	}
}

// try calls an operation as one of the two people and reports whether it succeeded. The operation may
// fail because the drawn object is archived, on another board or not accessible. If createdKind is not
// empty, try adds the ID of the created object to that kind.
func (p *simulation) try(rt *rapid.T, createdKind, name string, in fields) bool {
	a := p.anyPerson(rt).Call(name, in)
	if a.Status >= http.StatusInternalServerError {
		rt.Fatalf("%s: got status %d, body %s; want no server error", name, a.Status, a.Raw)
	}
	ok := a.Status/100 == 2
	if ok && createdKind != "" {
		p.ids[createdKind] = append(p.ids[createdKind], a.ID())
	}
	return ok
}

// phrase draws a short string.
func phrase(rt *rapid.T) string {
	return rapid.SampledFrom([]string{"red", "green", "blue", "<b>ü</b>"}).Draw(rt, "word")
}

// position draws a position: top, bottom, or before or after an object of a kind.
func (p *simulation) position(rt *rapid.T, neighbors string) any {
	where := rapid.SampledFrom([]string{"top", "bottom", "before", "after"}).Draw(rt, "position")
	if where == "top" || where == "bottom" {
		return where
	}
	return fields{where: p.pick(rt, neighbors)}
}

// subset draws a subset of the input fields. It includes the fields in always.
func subset(rt *rapid.T, in fields, always ...string) fields {
	out := fields{}
	for _, name := range slices.Sorted(maps.Keys(in)) {
		if slices.Contains(always, name) || rapid.Bool().Draw(rt, name) {
			out[name] = in[name]
		}
	}
	return out
}

// actions returns the actions that the two people can take on the boards, by name.
func (p *simulation) actions() map[string]func(*rapid.T) {
	flag := func(rt *rapid.T) bool { return rapid.Bool().Draw(rt, "flag") }
	oneOf := func(rt *rapid.T, kind string) []string { return []string{p.pick(rt, kind)} }
	due := func(rt *rapid.T) fields {
		return subset(rt, fields{"dueDate": "2026-12-24", "dueTime": "09:30", "startDate": "2026-12-01",
			"timeZone": "Europe/Zurich"}, "dueDate", "timeZone")
	}
	actions := map[string]func(*rapid.T){
		"take a snapshot": func(rt *rapid.T) {
			p.takeSnapshot(p.anyPerson(rt), p.pick(rt, "boards"))
		},
		"archive and restore the board": func(rt *rapid.T) {
			id, person := p.pick(rt, "boards"), p.anyPerson(rt)
			if person.Call("archive_board", fields{"boardId": id}).Status != http.StatusOK {
				rt.Skip("the person may not archive the board")
			}
			if flag(rt) {
				p.takeSnapshot(person, id)
			}
			person.Must("restore_board", fields{"boardId": id})
		},
	}
	// A person who is removed from the workspace loses the roles and assignments on its boards.
	actions["leave and join again"] = func(*rapid.T) {
		ada, bob := p.people[0], p.people[1]
		ada.Write(board.Person(ada.ID), func(ctx context.Context, tx *store.Tx) error {
			_, err := app.RemoveMember(ctx, tx,
				app.RemoveMemberInput{WorkspaceInput: app.WorkspaceInput{WorkspaceID: p.workspace}, UserID: bob.ID})
			return err
		})
		bob.Joins(p.workspace, board.WorkspaceAdmin)
	}
	// A person who is removed from a private board is unassigned from its cards.
	actions["join and leave a private board"] = func(rt *rapid.T) {
		ada, bob, id := p.people[0], p.people[1], p.pick(rt, "boards")
		ada.Call("update_board", fields{"boardId": id, "visibility": "private"})
		ada.Call("share_board", fields{"boardId": id, "userId": bob.ID, "role": "editor"})
		ada.Call("set_card_assignees", fields{"cardId": p.pick(rt, "cards"), "add": []string{bob.ID}})
		p.takeSnapshot(ada, id)
		ada.Call("remove_board_member", fields{"boardId": id, "userId": bob.ID})
	}
	for name, draw := range map[string]func(rt *rapid.T) (createdKind string, in fields){
		"update_board": func(rt *rapid.T) (string, fields) {
			features := subset(rt, fields{"calendar": flag(rt), "publicPage": flag(rt), "automation": flag(rt)})
			return "", subset(rt, fields{"boardId": p.pick(rt, "boards"), "name": phrase(rt), "description": phrase(rt),
				"color": rapid.SampledFrom([]any{nil, "teal", "red"}).Draw(rt, "color"), "features": features,
				"visibility": rapid.SampledFrom([]string{"workspace", "workspace", "workspace", "private", "confidential"}).Draw(rt,
					"visibility")}, "boardId")
		},
		"share_board": func(rt *rapid.T) (string, fields) {
			return "", fields{"boardId": p.pick(rt, "boards"), "userId": p.pick(rt, "people"),
				"role": rapid.SampledFrom([]string{"admin", "editor", "viewer"}).Draw(rt, "role")}
		},
		"remove_board_member": func(rt *rapid.T) (string, fields) {
			return "", fields{"boardId": p.pick(rt, "boards"), "userId": p.pick(rt, "people")}
		},
		"post_status_update": func(rt *rapid.T) (string, fields) {
			return "", fields{"boardId": p.pick(rt, "boards"), "status": "at_risk", "title": phrase(rt)}
		},

		"create_list": func(rt *rapid.T) (string, fields) {
			return "lists", subset(rt, fields{"boardId": p.pick(rt, "boards"), "name": phrase(rt), "wipLimit": 3,
				"position": p.position(rt, "lists")}, "boardId", "name")
		},
		"update_list": func(rt *rapid.T) (string, fields) {
			return "", subset(rt, fields{"listId": p.pick(rt, "lists"), "name": phrase(rt), "wipMode": "soft",
				"wipLimit": rapid.SampledFrom([]any{nil, 4}).Draw(rt, "limit")}, "listId")
		},
		"move_list": func(rt *rapid.T) (string, fields) {
			return "", fields{"listId": p.pick(rt, "lists"), "position": p.position(rt, "lists")}
		},
		"move_list_to_board": func(rt *rapid.T) (string, fields) {
			return "", fields{"listId": p.pick(rt, "lists"), "boardId": p.pick(rt, "boards"),
				"position": p.position(rt, "lists")}
		},
		"copy_list":    func(rt *rapid.T) (string, fields) { return "lists", fields{"listId": p.pick(rt, "lists")} },
		"archive_list": func(rt *rapid.T) (string, fields) { return "", fields{"listId": p.pick(rt, "lists")} },
		"restore_list": func(rt *rapid.T) (string, fields) { return "", fields{"listId": p.pick(rt, "lists")} },

		"create_card": func(rt *rapid.T) (string, fields) {
			return "cards", subset(rt, fields{"listId": p.pick(rt, "lists"), "title": phrase(rt), "description": phrase(rt),
				"labels":    oneOf(rt, "labels"),
				"assignees": oneOf(rt, "people"), "due": due(rt), "position": p.position(rt, "cards")}, "listId", "title")
		},
		"update_card": func(rt *rapid.T) (string, fields) {
			return "", subset(rt, fields{"cardId": p.pick(rt, "cards"), "title": phrase(rt), "description": phrase(rt),
				"done": flag(rt)}, "cardId")
		},
		"move_card": func(rt *rapid.T) (string, fields) {
			return "", fields{"cardId": p.pick(rt, "cards"), "listId": p.pick(rt, "lists"), "position": p.position(rt, "cards")}
		},
		"move_card_to_board": func(rt *rapid.T) (string, fields) {
			return "", fields{"cardId": p.pick(rt, "cards"), "listId": p.pick(rt, "lists")}
		},
		"copy_card": func(rt *rapid.T) (string, fields) {
			return "cards", subset(rt, fields{"cardId": p.pick(rt, "cards"), "listId": p.pick(rt, "lists")}, "cardId")
		},
		"archive_card":   func(rt *rapid.T) (string, fields) { return "", fields{"cardId": p.pick(rt, "cards")} },
		"restore_card":   func(rt *rapid.T) (string, fields) { return "", fields{"cardId": p.pick(rt, "cards")} },
		"set_card_due":   func(rt *rapid.T) (string, fields) { return "", with(due(rt), "cardId", p.pick(rt, "cards")) },
		"clear_card_due": func(rt *rapid.T) (string, fields) { return "", fields{"cardId": p.pick(rt, "cards")} },
		"set_card_labels": func(rt *rapid.T) (string, fields) {
			return "", subset(rt, fields{"cardId": p.pick(rt, "cards"), "add": oneOf(rt, "labels"),
				"remove": oneOf(rt, "labels")}, "cardId")
		},
		"set_card_assignees": func(rt *rapid.T) (string, fields) {
			return "", subset(rt, fields{"cardId": p.pick(rt, "cards"), "add": oneOf(rt, "people"),
				"remove": oneOf(rt, "people")}, "cardId")
		},

		"create_label": func(rt *rapid.T) (string, fields) {
			return "labels", fields{"boardId": p.pick(rt, "boards"), "name": phrase(rt), "color": "red"}
		},
		"update_label": func(rt *rapid.T) (string, fields) {
			return "", subset(rt, fields{"labelId": p.pick(rt, "labels"), "name": phrase(rt),
				"color": rapid.SampledFrom([]string{"red", "lime"}).Draw(rt, "color")}, "labelId")
		},
		"delete_label": func(rt *rapid.T) (string, fields) { return "", fields{"labelId": p.pick(rt, "labels")} },

		"add_checklist": func(rt *rapid.T) (string, fields) {
			return "checklists", fields{"cardId": p.pick(rt, "cards"), "title": phrase(rt),
				"items": []string{"a", "b"}[:rapid.IntRange(0, 2).Draw(rt, "items")]}
		},
		"update_checklist": func(rt *rapid.T) (string, fields) {
			return "", fields{"checklistId": p.pick(rt, "checklists"), "title": phrase(rt)}
		},
		"delete_checklist": func(rt *rapid.T) (string, fields) { return "", fields{"checklistId": p.pick(rt, "checklists")} },
		"add_checklist_item": func(rt *rapid.T) (string, fields) {
			return "items", fields{"checklistId": p.pick(rt, "checklists"), "title": phrase(rt),
				"position": p.position(rt, "items")}
		},
		"update_checklist_item": func(rt *rapid.T) (string, fields) {
			return "", subset(rt, fields{"itemId": p.pick(rt, "items"), "title": phrase(rt), "done": flag(rt),
				"position": p.position(rt, "items")}, "itemId")
		},
		"delete_checklist_item": func(rt *rapid.T) (string, fields) { return "", fields{"itemId": p.pick(rt, "items")} },

		"add_comment": func(rt *rapid.T) (string, fields) {
			return "comments", fields{"cardId": p.pick(rt, "cards"), "text": phrase(rt)}
		},
		"edit_comment": func(rt *rapid.T) (string, fields) {
			return "", fields{"commentId": p.pick(rt, "comments"), "text": phrase(rt)}
		},
		"delete_comment": func(rt *rapid.T) (string, fields) { return "", fields{"commentId": p.pick(rt, "comments")} },

		"add_attachment": func(rt *rapid.T) (string, fields) {
			return "attachments", fields{"cardId": p.pick(rt, "cards"), "url": "https://example.com/brief", "name": phrase(rt)}
		},
		"update_attachment": func(rt *rapid.T) (string, fields) {
			return "", fields{"attachmentId": p.pick(rt, "attachments"), "name": phrase(rt)}
		},
		"delete_attachment":  func(rt *rapid.T) (string, fields) { return "", fields{"attachmentId": p.pick(rt, "attachments")} },
		"restore_attachment": func(rt *rapid.T) (string, fields) { return "", fields{"attachmentId": p.pick(rt, "attachments")} },
	} {
		actions[name] = func(rt *rapid.T) {
			for range 4 { // about half of the calls fail
				if createdKind, in := draw(rt); p.try(rt, createdKind, name, in) {
					return
				}
			}
		}
	}
	return actions
}
