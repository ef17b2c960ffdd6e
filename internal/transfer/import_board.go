package transfer

import (
	"bytes"
	"errors"
	"image"
	_ "image/jpeg" // the formats of stored pictures
	_ "image/png"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"

	"cardwall/internal/board"
)

// boardReader creates one board of a document.
type boardReader struct {
	*reader
	record     boardRecord
	target     board.Board
	counts     countsRecord
	imported   board.ImportedBoard
	names      map[string]string         // names of the board's users, by document id
	people     map[string]string         // people referred to so far: their ids on this server, by document id
	ids        map[string]string         // new ids of all other records, by document id
	labels     map[string]bool           // new ids of the labels
	ranks      map[string]string         // rank of the last card of each list, by the list's new id; of the last list, by ""
	archived   map[string]*board.Instant // time at which each list was archived, by its new id
	numbers    map[int]bool
	lastChange int64
}

var boardMembers = []string{"exportedAt", "boardVersion", "board", "users", "labels", "lists", "cards", "statusUpdates",
	"savedFilters", "activity", "counts", "complete"}

// board reads the rest of a board document and creates the board.
func (in *reader) board() (countsRecord, error) {
	r := &boardReader{
		reader: in, names: map[string]string{}, people: map[string]string{}, ids: map[string]string{},
		labels: map[string]bool{}, ranks: map[string]string{}, archived: map[string]*board.Instant{}, numbers: map[int]bool{},
	}
	if err := in.members(boardMembers, r.member); err != nil {
		return r.counts, err
	}
	if err := in.draft.EndBoard(in.ctx, r.target.ID, r.record.NextNumber); err != nil {
		return r.counts, err
	}
	in.report.Boards = append(in.report.Boards, r.imported)
	return r.counts, nil
}

func (r *boardReader) member(name string) error {
	switch name {
	case "boardVersion":
		return json.UnmarshalDecode(r.dec, &r.target.Version)
	case "board":
		return json.UnmarshalDecode(r.dec, &r.record)
	case "users":
		if err := each(r.reader, name, r.user); err != nil {
			return err
		}
		return r.createBoard() // after the users, because the creator is one of them
	case "labels":
		return each(r.reader, name, r.label)
	case "lists":
		return each(r.reader, name, r.list)
	case "cards":
		return each(r.reader, name, r.card)
	case "statusUpdates":
		return each(r.reader, name, r.statusUpdate)
	case "savedFilters":
		return r.savedFilters(&r.counts)
	case "activity":
		if err := each(r.reader, name, r.entry); err != nil {
			return err
		}
		if r.lastChange != r.target.Version && (r.lastChange > r.target.Version || r.target.Version > r.record.ReducedTo) {
			return board.Invalid("activity ends at version %d; boardVersion is %d.", r.lastChange, r.target.Version)
		}
		return nil
	case "counts":
		return r.reader.counts(r.counts)
	case "complete":
		return r.complete()
	}
	return r.dec.SkipValue()
}

// person returns the id that a person in the document has on this server.
func (r *boardReader) person(at, sourceID string) (string, error) {
	if id, ok := r.people[sourceID]; ok {
		return id, nil
	}
	name, ok := r.names[sourceID]
	if !ok {
		return "", board.Invalid("%s refers to a person who is not among the users.", at)
	}
	id, err := r.userOrPlaceholder(sourceID, name)
	r.people[sourceID], r.queryIDs[sourceID] = id, id
	return id, err
}

// userOrPlaceholder returns sourceID if that person is in the workspace, and
// otherwise the id of a placeholder with the given name.
func (in *reader) userOrPlaceholder(sourceID, name string) (string, error) {
	if member, err := in.v.IsMember(in.ctx, in.workspace.ID, sourceID); err != nil || member {
		return sourceID, err
	}
	id, err := in.draft.Placeholder(in.ctx, sourceID, name)
	if err == nil {
		in.report.note("People who are not in the workspace, kept by name", name)
	}
	return id, err
}

func (r *boardReader) optionalPerson(at string, sourceID *string) (*string, error) {
	if sourceID == nil {
		return nil, nil
	}
	id, err := r.person(at, *sourceID)
	return &id, err
}

// newRecordID returns a new id for a record. It returns an error if sourceID is
// not a valid id, or if another record of the board has the same id.
func (r *boardReader) newRecordID(at, sourceID, prefix string) (string, error) {
	if err := identifier(at, sourceID); err != nil {
		return "", err
	}
	if _, ok := r.ids[sourceID]; ok {
		return "", board.Invalid("%s.id is a duplicate.", at)
	}
	id := r.draft.NewID(prefix)
	r.ids[sourceID] = id
	if prefix == "brd_" || prefix == "lst_" || prefix == "lbl_" {
		r.queryIDs[sourceID] = id
	}
	return id, nil
}

func (r *boardReader) user(at string, u *userRecord) error {
	if err := identifier(at, u.ID); err != nil {
		return err
	}
	if _, ok := r.names[u.ID]; ok {
		return board.Invalid("%s.id is a duplicate.", at)
	}
	name := board.CleanLine(u.Name)
	r.names[u.ID], r.users[u.ID] = name, name
	r.counts.Users++
	if name == "" || strings.ContainsFunc(u.Name, unicode.IsControl) {
		return board.Invalid("%s.name must be one line and must not be empty.", at)
	}
	return nil
}

// createBoard adds the board record to the draft.
func (r *boardReader) createBoard() error {
	b := r.record
	id, err := r.newRecordID("board", b.ID, "brd_")
	if err != nil {
		return err
	}
	by, err := r.optionalPerson("board.createdBy", b.CreatedBy)
	if err != nil {
		return err
	}
	switch b.Visibility {
	case board.VisibleToWorkspace, board.Private, board.Confidential:
	default:
		return board.Invalid("board.visibility must be one of workspace, private, confidential.").
			In("board.visibility", board.RuleValue)
	}
	if b.ReducedTo < 0 || b.ReducedTo > r.target.Version {
		return board.Invalid("board.reducedTo must not be negative or greater than boardVersion.")
	}
	if r.target.Version < 0 || b.NextNumber < 0 || b.NextNumber > maxNumber+1 {
		return board.Invalid("boardVersion and board.nextNumber must not be negative. board.nextNumber must be at "+
			"most %d.", maxNumber+1)
	}
	if err := first(r.title("board.name", &b.Name), r.text("board.description", b.Description), r.times("board", b.CreatedAt,
		b.UpdatedAt)); err != nil {
		return err
	}
	if b.Color != nil {
		if err := color("board", *b.Color); err != nil {
			return err
		}
	}
	background, err := b.Background.picture()
	if err != nil {
		return err
	}
	b.Features.PublicPage = false // an import must not publish a board
	r.target = board.Board{ID: id, Name: b.Name, Description: b.Description, Color: b.Color, Visibility: b.Visibility,
		Features: b.Features, Version: r.target.Version,
		ArchivedAt: b.ArchivedAt, CreatedBy: by, CreatedAt: b.CreatedAt, UpdatedAt: b.UpdatedAt}
	r.imported = board.ImportedBoard{ID: id, Name: b.Name}
	if background == nil {
		return r.draft.ReducedBoard(r.ctx, &r.target, b.ReducedTo)
	}
	r.target.Background = new(background.Version())
	return errors.Join(r.draft.ReducedBoard(r.ctx, &r.target, b.ReducedTo), r.draft.Background(r.ctx, id, *background))
}

// picture returns the picture of a record; nil if there is none. It returns an error if the
// program cannot have made the picture.
func (in *pictureRecord) picture() (*board.Picture, error) {
	if in == nil {
		return nil, nil
	}
	size, format, err := image.DecodeConfig(bytes.NewReader(in.Content))
	if err != nil || in.MediaType != "image/"+format || max(size.Width, size.Height) > board.AsBackground.Side ||
		len(in.Content) > int(board.AsBackground.Most) {
		return nil, board.Invalid("board.background must be a JPEG or PNG picture of at most %d × %d pixels and %s.",
			board.AsBackground.Side, board.AsBackground.Side, board.AsBackground.Most)
	}
	return &board.Picture{MediaType: in.MediaType, Content: in.Content}, nil
}

func (r *boardReader) label(at string, l *labelRecord) error {
	id, err := r.newRecordID(at, l.ID, "lbl_")
	if err != nil {
		return err
	}
	if l.Name != "" {
		err = r.title(at+".name", &l.Name)
	}
	if err := first(err, color(at, l.Color), r.times(at, l.CreatedAt, l.UpdatedAt),
		checkLimit("labels on a board", r.counts.Labels+1, r.v.Limits().Labels)); err != nil {
		return err
	}
	r.counts.Labels++
	r.imported.Labels++
	r.labels[id] = true
	return r.draft.Label(r.ctx, &board.Label{ID: id, BoardID: r.target.ID, Name: l.Name, Color: l.Color,
		CreatedAt: l.CreatedAt, UpdatedAt: l.UpdatedAt})
}

func (r *boardReader) list(at string, l *listRecord) error {
	id, err := r.newRecordID(at, l.ID, "lst_")
	if err != nil {
		return err
	}
	if l.WIPMode != board.WIPSoft && l.WIPMode != board.WIPHard {
		return board.Invalid("%s.wipMode must be one of soft, hard.", at)
	}
	if l.WIPLimit != nil && (*l.WIPLimit < 1 || *l.WIPLimit > maxWIPLimit) {
		return board.Invalid("%s.wipLimit must be from 1 to %d.", at, maxWIPLimit)
	}
	if l.ArchivedAt == nil {
		err = checkLimit("open lists on a board", r.draft.On(r.target.ID).OpenLists+1, r.v.Limits().OpenLists)
	}
	if err := first(err, r.title(at+".name", &l.Name), r.times(at, l.CreatedAt, l.UpdatedAt)); err != nil {
		return err
	}
	rank, err := board.RankBetween(r.ranks[""], "")
	if err != nil {
		return err
	}
	r.ranks[""], r.ranks[id] = rank, ""
	r.archived[id] = l.ArchivedAt
	r.counts.Lists++
	r.imported.Lists++
	return r.draft.List(r.ctx, &board.List{ID: id, BoardID: r.target.ID, Name: l.Name, Rank: rank, WIPLimit: l.WIPLimit,
		WIPMode: l.WIPMode, ArchivedAt: l.ArchivedAt, CreatedAt: l.CreatedAt, UpdatedAt: l.UpdatedAt})
}

// entry adds an activity entry to the draft. It maps every id to an id on this server,
// even the id of an object that no longer exists, because an entry must never refer
// to a record of another board.
func (r *boardReader) entry(at string, e *entryRecord) error {
	complete := e.BoardVersion == r.lastChange+1 || r.lastChange == 0 ||
		e.BoardVersion > r.lastChange && e.BoardVersion <= r.record.ReducedTo+1
	if e.BoardVersion < 1 || !complete {
		return board.Invalid("%s.boardVersion is %d, but the previous one is %d. Versions must not "+
			"have gaps.", at, e.BoardVersion, r.lastChange)
	}
	r.lastChange = e.BoardVersion
	if err := first(kind(at, e.Type), r.times(at, e.At, e.At), plainChanges(at, e.Changes)); err != nil {
		return err
	}
	if strings.HasPrefix(string(e.Type), "comment.") {
		delete(e.Changes, "text") // earlier versions exported the text of comments, even of deleted ones
	}
	out := board.Entry{ID: r.draft.NewID("act_"), Type: e.Type, At: e.At, Actor: e.Actor, BoardID: r.target.ID,
		Changes: e.Changes, BoardVersion: e.BoardVersion}
	var err error
	switch e.Actor.Type {
	case board.ActorPerson:
		out.Actor.ID, err = r.optionalPerson(at+".actor.id", e.Actor.ID)
		if out.Actor.Client != nil {
			err = first(err, r.title(at+".actor.client", out.Actor.Client))
		}
	case board.ActorAutomation, board.ActorGuest, board.ActorSystem:
		out.Actor.ID, out.Actor.Client = r.reference(e.Actor.ID, &err), nil
	default:
		err = board.Invalid("%s.actor.type must be one of person, automation, guest, system.", at)
	}
	out.ListID, out.CardID = r.reference(e.ListID, &err), r.reference(e.CardID, &err)
	mapIDs(out.Changes, func(id string) string { return *r.reference(&id, &err) })
	if err != nil {
		return err
	}
	r.counts.Activity++
	r.reportProgress(r.counts.Cards + r.counts.Activity)
	return r.draft.Entry(r.ctx, &out)
}

// reference returns the new id of an object that an entry refers to, even if the
// object no longer exists. If it fails, it stores the error in *failed.
func (r *boardReader) reference(sourceID *string, failed *error) *string {
	if sourceID == nil {
		return nil
	}
	if _, ok := r.names[*sourceID]; ok {
		id, err := r.person("activity", *sourceID)
		if err != nil {
			*failed = err
		}
		return &id
	}
	id, ok := r.ids[*sourceID]
	if !ok {
		id = r.missingID(*sourceID)
	}
	return &id
}

// missingID returns a new id for an object that the document refers to but does
// not contain. All references to the object get the same id.
func (in *reader) missingID(sourceID string) string {
	id, ok := in.missing[sourceID]
	if !ok {
		prefix := "gon_"
		if isID(sourceID) {
			prefix = sourceID[:4]
		}
		id = in.draft.NewID(prefix)
		in.missing[sourceID] = id
	}
	return id
}

func (r *boardReader) reportProgress(done int) {
	if r.progress != nil && done%pageSize == 0 {
		r.progress(done, r.record.Cards+int(r.target.Version))
	}
}
