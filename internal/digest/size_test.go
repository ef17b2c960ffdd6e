package digest_test

import (
	"context"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/digest"
	"cardwall/internal/store"
)

const maxTokens = 4000

// alphabets are the characters of names and titles. The first letters of "rare" form no pair that
// is one token.
var alphabets = map[string]string{
	"English": "", "lower case": "abcdefghijklmnopqrstuvwxyz", "rare": "qjxzkgvw", "upper case": "QXZJKVWUOEIY",
	"mixed": "aBcDeFgHqXzJ0123456789", "digits": "0123456789", "punctuation": `"\<>&{}[]:;,.!?'$%/_-=+*#@|~`, "spaces": "a b c ",
	"Chinese": "安全检查清单项目计划会议纪要打印机需要星期五之前完成", "rare Chinese": "龘靐齉爩鱻麤灪籱", "Japanese": "ひらがなカタカナ漢字の会議資料ー、。",
	"Korean": "회의자료를준비하고인쇄해야합니다쀍쾗뷁", "Cyrillic": "Подготовитьпресс-релизЁё", "Greek": "ΠρόγραμμαΔελτίο", "Arabic": "إعداد بيان صحفي",
	"Hebrew": "הכנת הודעה לעיתונות", "Thai": "เตรียมข่าวประชาสัมพันธ์", "Hindi": "प्रेसविज्ञप्तितैयारकरें", "Latin": "äöüßéèêñçøåłřşțĳǅ",
	"emoji": "😀🚀🎉👩🏽🦰🧑🇨🇭🇩🇪❤★", "family": "👨\u200d👩\u200d👧\u200d👦", "mathematics": "𝕬𝖇𝒞𝟙∀∃∑√", "extension": "𠀀𠀁𠀂𪜶",
	"combining": "a\u0301\u0302\u0303\u0304",
}

// text returns a text of n characters.
func text(r *rand.Rand, alphabet string, n int) string {
	if alphabet == "" {
		return strings.Repeat("Write the press release for the launch ", n/39+1)[:n]
	}
	letters := []rune(alphabet)
	out := make([]rune, n)
	for i := range out {
		out[i] = letters[r.IntN(len(letters))]
	}
	out[0] = letters[0]
	return "x" + strings.TrimSpace(string(out))
}

// hostile describes a workspace.
type hostile struct {
	boards, cards, changes, people int
	alphabet                       string
	length                         int // of names and titles, in characters
}

// kinds are the kinds of the changes that fill writes.
var kinds = []board.Kind{
	board.KindCardCreated, board.KindCardMoved, board.KindCardCompleted, board.KindCardReopened, board.KindCardArchived,
	board.KindCardRestored, board.KindCardDueDateChanged, board.KindCommentAdded, board.KindCardUpdated, board.KindCardLabelsChanged,
	board.KindChecklistAdded, board.KindItemCompleted, board.KindAttachmentAdded, board.KindListUpdated, board.KindBoardMemberUpdated,
	board.KindLabelCreated, board.KindStatusPosted, board.KindRuleCreated,
}

// fill writes the boards of a workspace, and returns the ids of the boards, the most active first.
func (h hostile) fill(t testing.TB, w *world) (ids []string) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	name := func() string { return text(r, h.alphabet, h.length) }
	people := []string{w.ada.ID, w.bob.ID}
	for i := range h.people {
		p := w.Person("Person"+strconv.Itoa(i)).Joins(w.workspace, board.WorkspaceMember)
		apptest.Change(t, w.DB, "UPDATE users SET name = $1 WHERE id = $2", name(), p.ID)
		people = append(people, p.ID)
	}
	programs := []string{"Claude", name(), name()}
	ranks, err := board.RanksAfter("", h.cards)
	if err != nil {
		t.Fatal(err)
	}
	for b := range h.boards {
		w.Write(board.Person(w.ada.ID), func(ctx context.Context, tx *store.Tx) error {
			in, err := tx.Workspace(ctx, w.workspace, board.ViewWorkspace)
			if err != nil {
				return err
			}
			changes := h.changes / (b + 1)
			made := board.Board{ID: tx.NewID("brd_"), WorkspaceID: w.workspace, Name: name(), Visibility: board.VisibleToWorkspace,
				Features: board.NewBoardFeatures(), Version: int64(changes)}
			ids = append(ids, made.ID)
			d := tx.NewDraft(in)
			if err := d.Board(ctx, &made); err != nil {
				return err
			}
			var lists, cards, comments []string
			for i := range 6 {
				lists = append(lists, tx.NewID("lst_"))
				if err := d.List(ctx, &board.List{ID: lists[i], BoardID: made.ID, Name: name(), Rank: ranks[i], WIPMode: "soft"}); err != nil {
					return err
				}
			}
			empty := ""
			for i := range h.cards {
				c := board.Card{ID: tx.NewID("crd_"), BoardID: made.ID, ListID: lists[r.IntN(6)], Rank: ranks[i], Number: i + 1_000_000,
					Title: name(), Description: &empty, CreatedAt: tx.Now(), UpdatedAt: tx.Now(), Comments: 1}
				comment := board.Comment{ID: tx.NewID("cmt_"), Text: name() + "\n\n" + name(), CreatedAt: tx.Now()}
				cards, comments = append(cards, c.ID), append(comments, comment.ID)
				if err := d.Card(ctx, &store.WholeCard{CardDetail: board.CardDetail{Card: c}, CommentList: []board.Comment{comment}}); err != nil {
					return err
				}
			}
			for i := range changes {
				c := r.IntN(h.cards)
				e := board.Entry{ID: tx.NewID("act_"), Type: kinds[i%len(kinds)], At: tx.Now() - board.Instant(changes-i), BoardID: made.ID,
					BoardVersion: int64(i + 1), CardID: &cards[c], Changes: board.Changes{
						"listId": {From: lists[r.IntN(6)], To: lists[r.IntN(6)]}, "dueDate": {From: "2026-12-01", To: "2026-12-24"},
						"commentId": {To: comments[c]}, "userId": {To: people[r.IntN(len(people))]}, "title": {To: "Title"}}}
				e.Actor.Type, e.Actor.ID = board.ActorPerson, &people[r.IntN(len(people))]
				if i%3 == 0 {
					e.Actor.Client = new(programs[r.IntN(len(programs))])
				}
				switch noun, _, _ := strings.Cut(string(e.Type), "."); noun {
				case "list":
					e.ListID, e.CardID = &lists[r.IntN(6)], nil
				case "board_member", "label", "status", "rule":
					e.CardID = nil
				}
				if err := d.Entry(ctx, &e); err != nil {
					return err
				}
			}
			if err := d.EndBoard(ctx, made.ID, 1); err != nil {
				return err
			}
			return d.Flush(ctx)
		})
	}
	return ids
}

// The estimate of a text is not below its true number of tokens.
func TestCost(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for name, alphabet := range alphabets {
		least := 100.0
		for i := range 300 {
			s := text(r, alphabet, 1+i/3)
			quoted, err := json.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			n, estimate := apptest.Tokens(t, string(quoted[1:len(quoted)-1])), float64(digest.Cost(s))/3
			if least = min(least, estimate/float64(n)); estimate < float64(n) {
				t.Errorf("%s: got the estimate %.1f for %d tokens of %q, want at least as many", name, estimate, n, s)
			}
		}
		t.Logf("%s: the estimate is at least %.2f times the true number", name, least)
	}
}

// A digest has at most 4,000 tokens, whatever people write. What it leaves out is counted.
func TestSize(t *testing.T) {
	t.Parallel()
	for name, alphabet := range alphabets {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(apptest.New(t, t.TempDir()+"/cardwall.db", apptest.Options{}))
			ids := hostile{boards: 9, cards: 60, changes: 900, people: 12, alphabet: alphabet, length: 500}.fill(t, w)
			requireSmall(t, w, "get_board_digest", fields{"boardId": ids[0]}, 18)
			requireSmall(t, w, "get_board_digest", fields{"boardId": ids[8]}, 18)
			requireSmall(t, w, "get_workspace_digest", fields{"workspaceId": w.workspace}, 9)
		})
	}
}

// A digest of an ordinary week is complete. One of a busy month has dozens of cards.
func TestOrdinarySize(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		for i, title := range strings.Fields("Release Printer Hall Invitations Speakers Catering Badges Budget Signs Press Photos Thanks") {
			card := w.newCard("Prepare the " + title + " for the spring launch")
			if i%2 == 0 {
				w.bob.Must("move_card", fields{"cardId": card, "listId": w.doing})
			}
			if i%3 == 0 {
				w.bob.Must("update_card", fields{"cardId": card, "done": true})
				w.ada.Must("add_comment", fields{"cardId": card, "text": "The printer wants the final version by Friday, in two colors."})
			}
		}
		a := requireSmall(t, w, "get_board_digest", fields{"boardId": w.board}, 26)
		if a.Get("shortened") != nil || strings.Contains(a.Text, "…") {
			t.Errorf("got %s, want a complete digest", a.Text)
		}
		for i := range 60 {
			w.newCard("Prepare part " + strconv.Itoa(i) + " for the spring launch")
		}
		if a := requireSmall(t, w, "get_board_digest", fields{"boardId": w.board}, 36); a.Get("shortened") == nil {
			t.Errorf("got %s, want a shortened digest", a.Text)
		}
	})
}

// requireSmall requires a digest of the maximum size, with at least some items.
func requireSmall(t *testing.T, w *world, name string, in fields, items int) apptest.ToolResponse {
	t.Helper()
	a := w.ada.Tool(name, in)
	n, found := apptest.Tokens(t, a.Text), strings.Count(a.Text, `"by":`)
	t.Logf("%s: %d tokens, %d bytes, %d items", name, n, len(a.Text), found)
	if n > maxTokens || found < items || strings.ContainsRune(a.Text, '\ufffd') {
		t.Errorf("%s: got %d tokens and %d items, want at most %d tokens and at least %d items: %.2000s", name, n, found, maxTokens, items,
			a.Text)
	}
	return a
}

// The totals are those of all changes, and boards and groups get similar shares of the space.
func TestTotalsAndShares(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		h := hostile{boards: 50, cards: 200, changes: 3000, people: 3, length: 60}
		ids := h.fill(t, w)
		a := requireSmall(t, w, "get_workspace_digest", fields{"workspaceId": w.workspace}, 10)
		var d struct {
			Changes   int `json:"changes"`
			Boards    []boardDigest
			Others    []boardDigest `json:"otherBoards"`
			More      int           `json:"moreBoards"`
			Shortened string        `json:"shortened"`
		}
		decode(t, a, &d)
		want := 3 // of newWorld
		for i := range h.boards {
			want += h.changes / (i + 1)
		}
		if d.Changes != want || len(d.Boards)+len(d.Others)+d.More != 51 || len(d.Boards) < 3 || d.Shortened == "" {
			t.Errorf("got %d changes of %d, %d and %d boards; want %d changes of 51 boards: %s", d.Changes, len(d.Boards), len(d.Others), d.More,
				want, a.Text)
		}
		least, most := 1000, 0
		for i, b := range d.Boards {
			n := 0
			for _, g := range b.Groups {
				n += len(g.Items)
			}
			least, most = min(least, n), max(most, n)
			if b.BoardID != ids[i] || b.Changes != h.changes/(i+1) {
				t.Errorf("got board %d with %d changes, want board %s with %d", i, b.Changes, ids[i], h.changes/(i+1))
			}
		}
		if least == 0 || most > least+2 {
			t.Errorf("got %d to %d items of a board, want similar numbers: %s", least, most, a.Text)
		}
		one := requireSmall(t, w, "get_board_digest", fields{"boardId": ids[0]}, 18)
		var b boardDigest
		decode(t, one, &b)
		for _, g := range b.Groups {
			total := map[string]int{"lists": 6, "members": 5, "other": 3}[g.Group]
			if g.Total != len(g.Items)+g.More || len(g.Items) < 1 || total != 0 && g.Total != total {
				t.Errorf("got %d of %d items in %s, and %d more; want some and the true total", len(g.Items), g.Total, g.Group, g.More)
			}
		}
		cards := w.Column("SELECT DISTINCT card_id FROM activity WHERE board_id = $1 AND type = 'card.created'", ids[0])
		if b.Groups[1].Group != "created" || b.Groups[1].Total != len(cards) {
			t.Errorf("got %+v, want %d created cards", b.Groups[1], len(cards))
		}
	})
}

type boardDigest struct {
	BoardID        string `json:"boardId"`
	Changes        int    `json:"changes"`
	GroupedChanges int    `json:"groupedChanges"`
	People         []struct{ Changes int }
	Groups         []struct {
		Group string `json:"group"`
		Total int    `json:"total"`
		More  int    `json:"more"`
		Items []any  `json:"items"`
	} `json:"groups"`
}

func decode(t *testing.T, a apptest.ToolResponse, into any) {
	t.Helper()
	var envelope struct {
		Data any `json:"data"`
	}
	envelope.Data = into
	if err := json.Unmarshal([]byte(a.Text), &envelope, json.MatchCaseInsensitiveNames(true)); err != nil {
		t.Fatal(err)
	}
}

// If a board has more changes than a digest reads, it says how many the groups cover.
func TestManyChanges(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		h := hostile{boards: 2, cards: 50, changes: 21_000, people: 1, length: 20}
		ids := h.fill(t, w)
		a := requireSmall(t, w, "get_board_digest", fields{"boardId": ids[0]}, 18)
		if a.Get("changes") != 21_000.0 || a.Get("groupedChanges") != 20_000.0 || a.Get("shortened") == nil {
			t.Errorf("got %s, want 21,000 changes, of which 20,000 are grouped", a.Text)
		}
		a = requireSmall(t, w, "get_workspace_digest", fields{"workspaceId": w.workspace}, 18)
		if a.Get("changes") != 31_503.0 || a.Get("boards.0.groupedChanges") != 9_999.0 || a.Get("boards.1.groupedChanges") != 9_998.0 {
			t.Errorf("got %s, want 31,503 changes, and half of the limit for each large board", a.Text)
		}
	})
}
