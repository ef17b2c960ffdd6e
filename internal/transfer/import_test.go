package transfer_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/store"
	"cardwall/internal/transfer"
)

func renamed(doc, from, to string) string {
	doc = strings.Replace(doc, from, to, 1)
	return strings.Replace(doc, `"name":"Again"`, `"name":"Engines"`, 1)
}

// sample creates a board of about 20 cards. It returns the board's owner, its workspace and its
// export.
func sample(t *testing.T, s *apptest.Service) (ada *apptest.Person, workspace string, doc []byte) {
	t.Helper()
	ada = s.Person("Ada")
	workspace = ada.Workspace("Engines", board.PlanTeam)
	r, err := importTrello(s, board.Person(ada.ID), workspace, rich)
	if err != nil {
		t.Fatal(err)
	}
	id := r.Boards[0].ID
	list := ada.Must("list_lists", apptest.Fields{"boardId": id}).Text("0.id")
	for i := range 15 {
		card := ada.Must("create_card", apptest.Fields{"listId": list, "title": fmt.Sprint("Card ", i),
			"description": strings.Repeat("ä", 200), "assignees": []string{ada.ID}})
		ada.Must("add_comment", apptest.Fields{"cardId": card.ID(), "text": "Said."})
	}
	ada.Must("post_status_update", apptest.Fields{"boardId": id, "status": "at_risk", "title": "Late",
		"text": strings.Repeat("ü", 600), "startDate": "2026-03-01", "targetDate": "2026-03-02"})
	ada.Must("create_saved_filter", apptest.Fields{"workspaceId": workspace, "name": "Shared", "query": "board:" + id + " " +
		strings.Repeat("ü", 600), "shared": true})
	ada.Must("create_saved_filter", apptest.Fields{"workspaceId": workspace, "name": "Private", "query": "board:" + id})
	return ada, workspace, export(t, s, board.Person(ada.ID), id)
}

func TestTruncatedFileIsRefused(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada, workspace, doc := sample(t, s)
		before := ada.All("list_boards", "id", nil)
		cuts := []int{}
		for n := 0; n < len(doc)-1; n += 1000 {
			cuts = append(cuts, n)
		}
		for _, part := range []string{`"statusUpdates":[`, `"savedFilters":[`, `"activity":[`} {
			n := bytes.Index(doc, []byte(part))
			cuts = append(cuts, n, n+len(part), n+len(part)+500)
		}
		for _, n := range cuts {
			_, err := importDocument(s, board.Person(ada.ID), workspace, doc[:n])
			if f, ok := board.AsFault(err); !ok || f.Code != board.CodeInvalidRequest {
				t.Fatalf("import of %d of %d bytes: got error %v, want invalid_request", n, len(doc), err)
			}
		}
		if after := ada.All("list_boards", "id", nil); len(after) != len(before) {
			t.Errorf("after refused imports: got %d boards, want %d", len(after), len(before))
		}
		if _, err := importDocument(s, board.Person(ada.ID), workspace, append([]byte("\ufeff"), doc...)); err != nil {
			t.Errorf("import of the complete file: got error %v, want none", err)
		}
		if _, err := importDocument(s, board.Person(ada.ID), workspace, append(doc, "{}"...)); err == nil {
			t.Error("import of a file with trailing data: got no error, want one")
		}
	})
}

// background returns the member of a board record that contains the picture behind the lists.
func background(mediaType, content string) string {
	return fmt.Sprintf(`"background":{"mediaType":%q,"content":%q},`, mediaType, base64.StdEncoding.EncodeToString([]byte(content)))
}

func TestInvalidDocumentsAreRefused(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada, workspace, doc := sample(t, s)
		text := string(doc)
		change := func(from, to string) string {
			if !strings.Contains(text, from) {
				t.Fatalf("the document does not contain %s", from)
			}
			return strings.Replace(text, from, to, 1)
		}
		without := func(from, to string) string {
			return text[:strings.Index(text, `"`+from+`":[`)] + text[strings.Index(text, `"`+to+`":[`):]
		}
		for name, c := range map[string]struct{ text, want string }{
			"unknown format":    {change("cardwall-export/1", "cardwall-export/2"), "format"},
			"Trello file":       {rich, "not a Cardwall export"},
			"complete is false": {change(`"complete":true`, `"complete":false`), "cut off"},
			"without complete":  {change(`,"complete":true`, ``), "complete is missing"},
			"wrong counts":      {change(`"counts":{"users":`, `"counts":{"users":9`), "counts"},
			"missing cards": {text[:strings.Index(text, `"cards":[`)] + `"cards":[]` +
				text[strings.Index(text, `,"statusUpdates":`):], "counts"},
			"missing status updates": {without("statusUpdates", "savedFilters"), "counts"},
			"missing filters":        {without("savedFilters", "activity"), "counts"},
			"members in another order": {strings.Replace(without("savedFilters", "activity"), `"statusUpdates":[`, `"savedFilters":[`+
				filters(text)+`],"statusUpdates":[`, 1), "out of order"},
			"unknown status":             {change(`"status":"at_risk"`, `"status":"fine"`), "status"},
			"target date before start":   {change(`"targetDate":"2026-03-02"`, `"targetDate":"2026-02-02"`), "targetDate"},
			"invalid date":               {change(`"startDate":"2026-03-01","targetDate"`, `"startDate":"soon","targetDate"`), "startDate"},
			"negative snapshot count":    {change(`"overdue":`, `"overdue":-1`), "snapshot"},
			"snapshot count is a string": {change(`"overdue":`, `"overdue":"1","x":`), "overdue"},
			"unknown author":             {change(`2026-03-02","author":"`, `2026-03-02","author":"x`), "among the users"},
			"status update before 1970": {regexp.MustCompile(`("author":"[a-z0-9_]*","createdAt":)"[^"]*"(,`+
				`"snapshot")`).ReplaceAllString(text, `${1}"1969-01-01T00:00:00.000Z"$2`), "1970"},
			"NUL in a query":        {change(`"query":"`, `"query":"\u0000`), "U+0000"},
			"query too long":        {change(`"query":"`, `"query":"`+strings.Repeat("x ", 8000)), "query"},
			"filter without a name": {change(`"name":"Shared"`, `"name":""`), "name"},
			"NUL in an owner id":    {change(`"owner":{"id":"`, `"owner":{"id":"\u0000`), "owner"},
			"NUL in a user id":      {change(`"users":[{"id":"`, `"users":[{"id":"\u0000`), "id"},
			"duplicate filter": {text[:strings.Index(text, `"savedFilters":[`)] + `"savedFilters":[` + filters(text) + "," +
				filters(text) + text[strings.Index(text, `],"activity":`):], "is a duplicate"},
			"unknown list":         {change(`"listId":"`, `"listId":"x`), "listId"},
			"unknown user":         {change(`"author":"usr_`, `"author":"usr_x`), "among the users"},
			"empty title":          {change(`"title":"first"`, `"title":" "`), "title"},
			"NUL in a text member": {change(`"text":"`, `"text":"\u0000`), "U+0000"},
			"NUL in a change":      {change(`"source":{"from":null,"to":"Trello"}`, `"source":{"from":null,"to":"\u0000"}`), "U+0000"},
			"deeply nested change": {change(`"source":{"from":null,"to":"Trello"}`, `"source":{"from":null,"to":`+strings.Repeat("[",
				40)+strings.Repeat("]", 40)+`}`), "levels deep"},
			"gap in the versions":   {change(`"boardVersion":2}`, `"boardVersion":3}`), "must not have gaps"},
			"wrong last version":    {change(`"boardVersion":32`, `"boardVersion":33`), "boardVersion is 33"},
			"duplicate card number": {change(`"number":9,`, `"number":4,`), "number"},
			"unknown color":         {change(`"color":"red"`, `"color":"mauve"`), "color"},
			"local time zone":       {change(`"timeZone":"UTC"`, `"timeZone":"Local"`), "timeZone"},
			"wrong type":            {change(`"number":9,`, `"number":"9",`), "number"},
			"duplicate member":      {change(`"format":`, `"format":"x","format":`), "format"},
			"invalid UTF-8":         {change(`"title":"first"`, "\"title\":\"\xff\""), "not valid JSON"},
			"duplicate label id":    {change(lastLabelID(text), firstLabelID(text)), "is a duplicate"},
			"unknown visibility":    {change(`"visibility":"private"`, `"visibility":"secret"`), "visibility"},
			"background of text":    {change(`"features":{`, background("image/png", "<html>")+`"features":{`), "board.background"},
			"background of a type":  {change(`"features":{`, background("image/jpeg", apptest.Picture(4, 3))+`"features":{`), "board.background"},
			"wide background":       {change(`"features":{`, background("image/png", apptest.Picture(1921, 1))+`"features":{`), "board.background"},
			"background of 500 kB": {change(`"features":{`, background("image/png", apptest.Picture(4, 3)+strings.Repeat("x", 500_000))+
				`"features":{`), "board.background"},
		} {
			_, err := importDocument(s, board.Person(ada.ID), workspace, []byte(c.text))
			if f, ok := board.AsFault(err); !ok || !strings.Contains(f.Message, c.want) {
				t.Errorf("%s: got %v, want an error that contains %q", name, err, c.want)
			}
		}
		if n := len(ada.All("list_boards", "id", nil)); n != 1 {
			t.Errorf("after refused imports: got %d boards, want 1", n)
		}
		r, err := importDocument(s, board.Person(ada.ID), workspace, []byte(change(`"activity":[`, `"pictures":[{"x":[1]}],"activity":[`)))
		if err != nil || len(r.Notes) == 0 || r.Notes[0].Examples[0] != "pictures" {
			t.Errorf("document with an unknown member: got error %v and notes %+v, want a note about pictures", err, r.Notes)
		}
		older := without("statusUpdates", "activity")
		older = strings.Replace(older, `"statusUpdates":1,"savedFilters":1,`, "", 1)
		if r, err := importDocument(s, board.Person(ada.ID), workspace, []byte(older)); err != nil || r.Total().StatusUpdates+
			r.SavedFilters != 0 {
			t.Errorf("document from an earlier version: got error %v and report %+v, want no status updates or filters", err, r)
		}
	})
}

func filters(text string) string {
	return text[strings.Index(text, `"savedFilters":[`)+len(`"savedFilters":[`) : strings.Index(text, `],"activity":`)]
}

func labelsPart(text string) string {
	return text[strings.Index(text, `"labels":[{"id":"`)+len(`"labels":[{"id":"`) : strings.Index(text, `"lists":[`)]
}

func firstLabelID(text string) string { return labelsPart(text)[:30] }

func lastLabelID(text string) string {
	part := labelsPart(text)
	i := strings.LastIndex(part, `"id":"`) + len(`"id":"`)
	return part[i : i+30]
}

// An activity entry with the id of another board's card would appear in that card's history, so
// an import must replace such ids.
func TestImportReplacesIDsOfOtherBoards(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada, workspace, doc := sample(t, s)
		victim := ada.Must("create_board", apptest.Fields{"workspaceId": workspace, "name": "Victim"}).ID()
		list := ada.Must("create_list", apptest.Fields{"boardId": victim, "name": "To do"}).ID()
		card := ada.Must("create_card", apptest.Fields{"listId": list, "title": "Card"}).ID()
		text := strings.Replace(string(doc), `"listId":null,"cardId":null,"changes":{"cards":{"from":null,"to":5}`,
			`"listId":"`+list+`","cardId":"`+card+`","changes":{"cards":{"from":null,"to":["`+card+`"]}`, 1)
		if text == string(doc) {
			t.Fatal("the document has no entry that this test can change")
		}
		r, err := importDocument(s, board.Person(ada.ID), workspace, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if out := string(export(t, s, board.Person(ada.ID), r.Boards[0].ID)); strings.Contains(out, card) || strings.Contains(out, list) {
			t.Error("the imported board refers to records of another board")
		}
	})
}

// The highest card number may belong to a card that was moved to another board. An imported board
// must not reuse that number.
func TestCardNumbersAreNotReused(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada, workspace, doc := sample(t, s)
		text := regexp.MustCompile(`"nextNumber":\d+`).ReplaceAllString(string(doc), `"nextNumber":500`)
		r, err := importDocument(s, board.Person(ada.ID), workspace, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		list := ada.Must("list_lists", apptest.Fields{"boardId": r.Boards[0].ID}).Text("0.id")
		if card := ada.Must("create_card", apptest.Fields{"listId": list, "title": "Next"}); card.Get("number") != 500.0 {
			t.Errorf("got the card number %v, want 500", card.Get("number"))
		}
	})
}

func TestPlaceholderIsNotAMember(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		_, _, doc := sample(t, s)
		eve := s.Person("Eve")
		other := eve.Workspace("Elsewhere", board.PlanTeam)
		r, err := importDocument(s, board.Person(eve.ID), other, doc)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Notes) != 2 || r.Notes[0].Examples[0] != "Ada" || r.Notes[1].Examples[0] != "Shared" {
			t.Errorf("got the notes %+v, want one about Ada and one about Shared", r.Notes)
		}
		if got := eve.All("list_workspace_members", "name", apptest.Fields{"workspaceId": other}); len(got) != 1 {
			t.Errorf("got the workspace members %q, want only Eve", got)
		}
		in := apptest.Fields{"boardId": r.Boards[0].ID}
		cards := eve.Must("list_cards", in)
		if !strings.Contains(string(cards.Raw), `"assignees":[{"id":"usr_`) || !strings.Contains(string(cards.Raw), `"name":"Ada"`) {
			t.Errorf("got the cards %s, want Ada as an assignee", cards.Raw)
		}
		if got := eve.All("list_board_members", "name", in); len(got) != 1 || got[0] != "Eve" {
			t.Errorf("got the board members %q, want only Eve", got)
		}
	})
}

// TestSystemExportInConstantMemory exports a document of more than 40 MB and measures the live
// heap.
func TestSystemExportInConstantMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("importing and exporting 20,000 cards takes several seconds")
	}
	const cards = 20_000
	limits := board.DefaultLimits()
	limits.OpenCards = cards
	for name, database := range map[string]func() string{
		"sqlite":   func() string { return filepath.Join(t.TempDir(), "cardwall.db") },
		"postgres": func() string { return apptest.PostgresURL(t) },
	} {
		t.Run(name, func(t *testing.T) { // not parallel, because other tests' allocations would be measured
			s := apptest.New(t, database(), apptest.Options{Limits: limits})
			ada := s.Person("Ada")
			workspace := ada.Workspace("Engines", board.PlanTeam)
			var id string
			if err := s.DB.Write(t.Context(), board.Person(ada.ID), func(tx *store.Tx) error {
				r, err := readInto(t.Context(), tx, workspace, transfer.Import, largeDocument(cards), nil)
				if err == nil {
					id = r.Boards[0].ID
				}
				return err
			}); err != nil {
				t.Fatal(err)
			}
			w := &heapWriter{}
			if err := s.DB.Stream(t.Context(), board.Person(ada.ID), func(v *store.View) error {
				return transfer.Export(t.Context(), v, id, w)
			}); err != nil {
				t.Fatal(err)
			}
			t.Logf("%d bytes written, live heap between %d and %d bytes", w.written, w.least, w.most)
			if growth, most := w.most-w.least, uint64(w.written/10); w.written < cards*2000 || growth > most {
				t.Errorf("exported %d bytes, want at least %d; live heap grew by %d bytes, want at most a tenth of them, %d", w.written,
					cards*2000, growth, most)
			}
		})
	}
}

func liveHeap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// heapWriter measures the live heap after every megabyte that is written.
type heapWriter struct {
	least, most uint64
	written     int
}

func (w *heapWriter) Write(b []byte) (int, error) {
	if w.written>>20 != (w.written+len(b))>>20 {
		now := liveHeap()
		w.most = max(w.most, now)
		if w.least == 0 || now < w.least {
			w.least = now
		}
	}
	w.written += len(b)
	return len(b), nil
}

// largeDocument returns an export of a board that has one list with the given number of cards. The
// export is generated as it is read.
func largeDocument(cards int) io.Reader {
	const at = `"createdAt":"2026-01-05T09:00:00.000Z","updatedAt":"2026-01-05T09:00:00.000Z"`
	r, w := io.Pipe()
	go func() {
		var b bytes.Buffer
		fmt.Fprintf(&b, `{"format":"cardwall-export/1","exportedAt":"2026-01-05T09:00:00.000Z","boardVersion":0,"board":{"id":"brd_x",`+
			`"name":"Large","description":"","visibility":"workspace","features":{},"nextNumber":%d,"cards":%d,"archivedAt":null,`+
			`"createdBy":null,%s},"users":[],"labels":[],"lists":[{"id":"lst_x","name":"To do","wipLimit":null,"wipMode":"soft",`+
			`"archivedAt":null,%s}],"cards":[`, cards+1, cards, at, at)
		description := strings.Repeat("All work and no play. ", 100)
		for i := range cards {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, `{"id":"crd_%d","listId":"lst_x","number":%d,"title":"Card %d","description":%q,%s,"comments":[]}`, i, i+1,
				i, description, at)
			_, _ = b.WriteTo(w)
		}
		fmt.Fprintf(&b, `],"activity":[],"counts":{"users":0,"labels":0,"lists":1,"cards":%d,"checklists":0,"items":0,"comments":0,`+
			`"activity":0},"complete":true}`, cards)
		_, err := b.WriteTo(w)
		w.CloseWithError(err)
	}()
	return r
}

// Earlier versions exported the text of comments in the activity, even of deleted comments. An
// import drops that text.
func TestImportDropsCommentText(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada, workspace, doc := sample(t, s)
		old := bytes.ReplaceAll(doc, []byte(`"changes":{"commentId":`), []byte(`"changes":{"text":{"from":null,"to":"quagga"},"commentId":`))
		if n := bytes.Count(old, []byte("quagga")); n < 15 {
			t.Fatalf("got %d comment texts in the document, want at least 15", n)
		}
		r, err := importDocument(s, board.Person(ada.ID), workspace, old)
		if err != nil {
			t.Fatal(err)
		}
		all := s.Column("SELECT type || ' ' || changes FROM activity WHERE board_id = $1 AND type = 'comment.added'", r.Boards[0].ID)
		if len(all) < 15 || strings.Contains(fmt.Sprint(all), "quagga") || !strings.Contains(fmt.Sprint(all), "cmt_") {
			t.Errorf("got the activity %q, want at least 15 entries with comment ids and without comment text", all)
		}
	})
}
