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

// The changes of every operation are complete: a client that applies them to the boards before
// the operation gets the boards after it.
func TestChangesOfEveryOperationAreComplete(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		boards := []string{w.board, w.second}
		first, held := map[string]record{}, map[string]record{}
		for _, id := range boards {
			held[id] = boardState(w.owner, id)
			first[id] = held[id]
			checkReplay(t, w.owner, held[id], held[id], 1) // checks the mirror itself
		}
		for _, o := range s.Registry.All() {
			if o.ReadOnly || o.Name == "change_member" || o.Name == "remove_member" {
				continue // changes of workspace members are not changes of a board
			}
			in := w.sample(t, o)
			for _, id := range boards {
				held[id] = boardState(w.owner, id)
			}
			w.as(o).Must(o.Name, in)
			t.Run(o.Name, func(t *testing.T) {
				for _, id := range boards {
					checkReplay(t, w.owner, held[id], boardState(w.owner, id), 200)
				}
			})
		}
		for _, id := range boards {
			checkReplay(t, w.owner, first[id], boardState(w.owner, id), 3)
		}
	})
}

// A client that applies the changes of list_board_changes after any version, with any page size,
// gets the current state of the board.
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
					sim.see(sim.somebody(rt), id)
				}
				rt.Repeat(sim.actions())
			}
			for _, id := range sim.ids["boards"] {
				seen := map[*apptest.Person]record{}
				for _, held := range sim.held[id] {
					if held.p.Call("get_board", fields{"boardId": id}).Status == http.StatusNotFound {
						continue // the board has become private
					}
					if seen[held.p] == nil {
						seen[held.p] = boardState(held.p, id)
					}
					checkReplay(rt, held.p, held.state, seen[held.p], rapid.SampledFrom([]int{1, 2, 7, 200}).Draw(rt, "page"))
				}
			}
		})
	})
}

// simulation is two people who work on two boards, with the states that their clients have read.
type simulation struct {
	workspace string
	people    []*apptest.Person
	ids       map[string][]string // ids of objects by kind, such as "cards"
	held      map[string][]heldBoard
}

type heldBoard struct {
	p     *apptest.Person
	state record
}

func newSimulation(ada, bob *apptest.Person, workspace string) *simulation {
	p := &simulation{workspace: workspace, people: []*apptest.Person{ada, bob},
		ids: map[string][]string{"people": {ada.ID, bob.ID}}, held: map[string][]heldBoard{}}
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

// pick draws one of the existing objects.
func (p *simulation) pick(rt *rapid.T, what string) string {
	if len(p.ids[what]) == 0 {
		rt.Skip("there are no " + what)
	}
	return rapid.SampledFrom(p.ids[what]).Draw(rt, what)
}

func (p *simulation) somebody(rt *rapid.T) *apptest.Person {
	return p.people[rapid.IntRange(0, len(p.people)-1).Draw(rt, "who")]
}

// see stores the state of a board as a person reads it now, if the person can see the board.
func (p *simulation) see(who *apptest.Person, id string) {
	if who.Call("get_board", fields{"boardId": id}).Status == http.StatusOK {
		p.held[id] = append(p.held[id], heldBoard{who, boardState(who, id)})
	}
}

// try calls an operation as one of the two people and reports whether it succeeded. Errors are
// allowed, because the drawn object may be archived, on another board or not accessible. If
// makes is not empty, try adds the id of the created object to that kind.
func (p *simulation) try(rt *rapid.T, makes, name string, in fields) bool {
	a := p.somebody(rt).Call(name, in)
	if a.Status >= http.StatusInternalServerError {
		rt.Fatalf("%s: got status %d, body %s", name, a.Status, a.Raw)
	}
	done := a.Status/100 == 2
	if done && makes != "" {
		p.ids[makes] = append(p.ids[makes], a.ID())
	}
	return done
}

func phrase(rt *rapid.T) string {
	return rapid.SampledFrom([]string{"red", "green", "blue", "<b>ü</b>"}).Draw(rt, "word")
}

// position draws a position among neighbors of a kind.
func (p *simulation) position(rt *rapid.T, neighbors string) any {
	where := rapid.SampledFrom([]string{"top", "bottom", "before", "after"}).Draw(rt, "position")
	if where == "top" || where == "bottom" {
		return where
	}
	return fields{where: p.pick(rt, neighbors)}
}

// some draws a subset of the input fields.
func some(rt *rapid.T, in fields, always ...string) fields {
	out := fields{}
	for _, name := range slices.Sorted(maps.Keys(in)) {
		if slices.Contains(always, name) || rapid.Bool().Draw(rt, name) {
			out[name] = in[name]
		}
	}
	return out
}

// actions returns the actions that people take on boards, by name.
func (p *simulation) actions() map[string]func(*rapid.T) {
	flip := func(rt *rapid.T) bool { return rapid.Bool().Draw(rt, "flag") }
	ids := func(rt *rapid.T, what string) []string { return []string{p.pick(rt, what)} }
	due := func(rt *rapid.T) fields {
		return some(rt, fields{"dueDate": "2026-12-24", "dueTime": "09:30", "startDate": "2026-12-01",
			"timeZone": "Europe/Zurich"}, "dueDate", "timeZone")
	}
	actions := map[string]func(*rapid.T){
		"see": func(rt *rapid.T) {
			p.see(p.somebody(rt), p.pick(rt, "boards"))
		},
		"archive and restore the board": func(rt *rapid.T) {
			id, who := p.pick(rt, "boards"), p.somebody(rt)
			if who.Call("archive_board", fields{"boardId": id}).Status != http.StatusOK {
				rt.Skip("the person may not archive the board")
			}
			if flip(rt) {
				p.see(who, id)
			}
			who.Must("restore_board", fields{"boardId": id})
		},
	}
	// A person who leaves the workspace loses roles and assignments on its boards.
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
		p.see(ada, id)
		ada.Call("remove_board_member", fields{"boardId": id, "userId": bob.ID})
	}
	for name, draw := range map[string]func(rt *rapid.T) (makes string, in fields){
		"update_board": func(rt *rapid.T) (string, fields) {
			features := some(rt, fields{"calendar": flip(rt), "publicPage": flip(rt), "automation": flip(rt)})
			return "", some(rt, fields{"boardId": p.pick(rt, "boards"), "name": phrase(rt), "description": phrase(rt),
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
			return "lists", some(rt, fields{"boardId": p.pick(rt, "boards"), "name": phrase(rt), "wipLimit": 3,
				"position": p.position(rt, "lists")}, "boardId", "name")
		},
		"update_list": func(rt *rapid.T) (string, fields) {
			return "", some(rt, fields{"listId": p.pick(rt, "lists"), "name": phrase(rt), "wipMode": "soft",
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
			return "cards", some(rt, fields{"listId": p.pick(rt, "lists"), "title": phrase(rt), "description": phrase(rt),
				"labels":    ids(rt, "labels"),
				"assignees": ids(rt, "people"), "due": due(rt), "position": p.position(rt, "cards")}, "listId", "title")
		},
		"update_card": func(rt *rapid.T) (string, fields) {
			return "", some(rt, fields{"cardId": p.pick(rt, "cards"), "title": phrase(rt), "description": phrase(rt),
				"done": flip(rt)}, "cardId")
		},
		"move_card": func(rt *rapid.T) (string, fields) {
			return "", fields{"cardId": p.pick(rt, "cards"), "listId": p.pick(rt, "lists"), "position": p.position(rt, "cards")}
		},
		"move_card_to_board": func(rt *rapid.T) (string, fields) {
			return "", fields{"cardId": p.pick(rt, "cards"), "listId": p.pick(rt, "lists")}
		},
		"copy_card": func(rt *rapid.T) (string, fields) {
			return "cards", some(rt, fields{"cardId": p.pick(rt, "cards"), "listId": p.pick(rt, "lists")}, "cardId")
		},
		"archive_card":   func(rt *rapid.T) (string, fields) { return "", fields{"cardId": p.pick(rt, "cards")} },
		"restore_card":   func(rt *rapid.T) (string, fields) { return "", fields{"cardId": p.pick(rt, "cards")} },
		"set_card_due":   func(rt *rapid.T) (string, fields) { return "", with(due(rt), "cardId", p.pick(rt, "cards")) },
		"clear_card_due": func(rt *rapid.T) (string, fields) { return "", fields{"cardId": p.pick(rt, "cards")} },
		"set_card_labels": func(rt *rapid.T) (string, fields) {
			return "", some(rt, fields{"cardId": p.pick(rt, "cards"), "add": ids(rt, "labels"), "remove": ids(rt, "labels")},
				"cardId")
		},
		"set_card_assignees": func(rt *rapid.T) (string, fields) {
			return "", some(rt, fields{"cardId": p.pick(rt, "cards"), "add": ids(rt, "people"), "remove": ids(rt, "people")},
				"cardId")
		},

		"create_label": func(rt *rapid.T) (string, fields) {
			return "labels", fields{"boardId": p.pick(rt, "boards"), "name": phrase(rt), "color": "red"}
		},
		"update_label": func(rt *rapid.T) (string, fields) {
			return "", some(rt, fields{"labelId": p.pick(rt, "labels"), "name": phrase(rt),
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
			return "", some(rt, fields{"itemId": p.pick(rt, "items"), "title": phrase(rt), "done": flip(rt),
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
	} {
		actions[name] = func(rt *rapid.T) {
			for range 4 { // about half of the drawn actions fail
				if makes, in := draw(rt); p.try(rt, makes, name, in) {
					return
				}
			}
		}
	}
	return actions
}
