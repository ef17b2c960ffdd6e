package transfer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// maxTrelloFile is the maximum size of a file in bytes. Exports are far smaller,
// because of Trello's own limits.
const maxTrelloFile = 256 << 20

// ImportTrello adds a board to a draft from a file written by Trello's "Export as
// JSON". The board gets one activity entry, board.imported.
//
// People in the file are matched to people in the workspace: by email address if
// the file has one, and otherwise by a full name or user name that only one person
// has. No accounts are created. The report lists dropped assignments and everything
// else that was skipped or repaired.
//
// If the file is not JSON, has values of a wrong type, or exceeds this server's
// limits for a board, ImportTrello returns a fault before it adds anything.
//
// Attached files become links to where Trello stores them.
func ImportTrello(ctx context.Context, d *store.Draft, r io.Reader, progress Progress) (Report, error) {
	return importTrelloWith(ctx, d, r, progress, nil)
}

// importTrelloWith is ImportTrello with files that were downloaded, or without them if files
// is nil.
func importTrelloWith(ctx context.Context, d *store.Draft, r io.Reader, progress Progress, files *downloadedFiles) (Report, error) {
	file, err := readTrello(r)
	if err != nil {
		return Report{}, err
	}
	v, w := d.View(), d.Workspace()
	members, err := allMembers(ctx, v, w.ID)
	if err != nil {
		return Report{}, err
	}
	p := newPlan(file, members, planContext{w.ID, v.Caller().UserID, v.Limits(), v.Now(), d.NewID})
	p.files = files
	if files != nil {
		files.begin(w.OrganizationID)
	}
	if err := p.build(); err != nil {
		return Report{}, err
	}
	if err := p.write(ctx, d, progress); err != nil {
		return Report{}, fmt.Errorf("import from Trello: %w", err)
	}
	if files != nil {
		files.planned(d.Bytes())
	}
	return p.report, d.Flush(ctx)
}

func allMembers(ctx context.Context, v *store.View, workspaceID string) ([]board.Member, error) {
	var all []board.Member
	err := pages(func(after string) ([]board.Member, error) {
		return v.Members(ctx, workspaceID, after, pageSize)
	}, func(m board.Member) (string, error) {
		all = append(all, m)
		return m.ID, nil
	})
	return all, err
}

// readTrello decodes a file. It decodes only the values that are imported or
// counted for the report; other values may have any type.
func readTrello(r io.Reader) (*trelloBoard, error) {
	text, err := io.ReadAll(io.LimitReader(withoutMark(r), maxTrelloFile+1))
	if err != nil {
		return nil, fmt.Errorf("read the file: %w", err)
	}
	if len(text) > maxTrelloFile {
		return nil, board.Invalid("The file is larger than %d MiB.", maxTrelloFile>>20)
	}
	var file trelloBoard
	// Trello may truncate text in the middle of a surrogate pair. The remaining half
	// becomes U+FFFD.
	if err := json.Unmarshal(text, &file, jsontext.AllowInvalidUTF8(true)); err != nil {
		return nil, trelloFault(err)
	}
	if file.Lists == nil || file.Cards == nil {
		return nil, board.Invalid("The file is not an export of a Trello board: lists and cards are required.")
	}
	return &file, nil
}

func trelloFault(err error) error {
	var (
		syntax   *jsontext.SyntacticError
		semantic *json.SemanticError
	)
	switch {
	case errors.As(err, &semantic):
		return valueFault(semantic)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return board.Invalid("The file is cut off: the end of the document is missing.")
	case errors.As(err, &syntax):
		return jsonFault(syntax.Err, string(syntax.JSONPointer), syntax.ByteOffset)
	}
	return board.Invalid("The file is not a Trello export.")
}

// objectCount counts the entries in a value that is not imported. It is the number of
// elements of an array, 1 for an object, a number or true, and otherwise 0.
type objectCount int

// UnmarshalJSONFrom accepts any value.
func (p *objectCount) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*p = 0
	switch dec.PeekKind() {
	case 'n', 'f', '{', '"', '0', 't':
		if k := dec.PeekKind(); k != 'n' && k != 'f' && k != '"' {
			*p = 1
		}
		return dec.SkipValue()
	case '[':
		if _, err := dec.ReadToken(); err != nil {
			return err
		}
		for dec.PeekKind() != ']' {
			if err := dec.SkipValue(); err != nil {
				return err
			}
			*p++
		}
		_, err := dec.ReadToken()
		return err
	}
	return dec.SkipValue()
}

// present reports whether a value exists and is not null, false or empty.
type present bool

// UnmarshalJSONFrom accepts any value.
func (p *present) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	v, err := dec.ReadValue()
	if err != nil {
		return err
	}
	switch string(v) {
	case "null", "false", `""`, "{}", "[]":
		*p = false
	default:
		*p = true
	}
	return nil
}

type trelloBoard struct {
	ID               string  `json:"id"`
	Name             string  `json:"name"`
	Desc             string  `json:"desc"`
	Closed           bool    `json:"closed"`
	DateClosed       string  `json:"dateClosed"`
	DateLastActivity string  `json:"dateLastActivity"`
	Subscribed       present `json:"subscribed"`
	Prefs            struct {
		PermissionLevel string  `json:"permissionLevel"`
		IsTemplate      present `json:"isTemplate"`
	} `json:"prefs"`
	Lists        []trelloList       `json:"lists"`
	Labels       []trelloLabel      `json:"labels"`
	Cards        []trelloCard       `json:"cards"`
	Checklists   []trelloChecklist  `json:"checklists"`
	Members      []trelloMember     `json:"members"`
	Memberships  []trelloMembership `json:"memberships"`
	Actions      []trelloAction     `json:"actions"`
	CustomFields []trelloField      `json:"customFields"`
	PluginData   objectCount        `json:"pluginData"`
	PowerUps     objectCount        `json:"powerUps"`
}

type trelloList struct {
	ID         string   `json:"id"`
	Name       string   `json:"name"`
	Closed     bool     `json:"closed"`
	DateClosed string   `json:"dateClosed"`
	Pos        float64  `json:"pos"`
	SoftLimit  *float64 `json:"softLimit"`
	Subscribed present  `json:"subscribed"`
}

type trelloLabel struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Color string `json:"color"`
}

type trelloCard struct {
	ID               string                               `json:"id"`
	IDShort          float64                              `json:"idShort"`
	IDList           string                               `json:"idList"`
	Name             string                               `json:"name"`
	Desc             string                               `json:"desc"`
	Closed           bool                                 `json:"closed"`
	DateClosed       string                               `json:"dateClosed"`
	Pos              float64                              `json:"pos"`
	Due              string                               `json:"due"`
	Start            string                               `json:"start"`
	DueComplete      bool                                 `json:"dueComplete"`
	DateCompleted    string                               `json:"dateCompleted"`
	DateLastActivity string                               `json:"dateLastActivity"`
	IDMembers        []string                             `json:"idMembers"`
	IDLabels         []string                             `json:"idLabels"`
	Labels           []trelloLabel                        `json:"labels"` // instead of idLabels in older files
	IDMembersVoted   objectCount                          `json:"idMembersVoted"`
	Attachments      lenient[[]lenient[trelloAttachment]] `json:"attachments"`
	Stickers         objectCount                          `json:"stickers"`
	PluginData       objectCount                          `json:"pluginData"`
	CustomFieldItems lenient[[]lenient[trelloFieldItem]]  `json:"customFieldItems"`
	Address          lenient[string]                      `json:"address"`
	LocationName     lenient[string]                      `json:"locationName"`
	Coordinates      lenient[struct {
		Latitude  float64 `json:"latitude"`
		Longitude float64 `json:"longitude"`
	}] `json:"coordinates"`
	IsTemplate present `json:"isTemplate"`
	CardRole   present `json:"cardRole"`
	Subscribed present `json:"subscribed"`
	Cover      struct {
		IDAttachment         lenient[string] `json:"idAttachment"`
		IDUploadedBackground present         `json:"idUploadedBackground"`
		Color                present         `json:"color"`
	} `json:"cover"`
	IDAttachmentCover lenient[string] `json:"idAttachmentCover"` // instead of cover in older files
	Badges            struct {
		Comments float64 `json:"comments"`
		Votes    float64 `json:"votes"`
	} `json:"badges"`
}

// trelloAttachment is a link, or a file that Trello stores at a URL.
type trelloAttachment struct {
	ID       string            `json:"id"`
	Name     string            `json:"name"`
	URL      string            `json:"url"`
	Date     string            `json:"date"`
	IDMember string            `json:"idMember"`
	IsUpload present           `json:"isUpload"`
	Bytes    lenient[*float64] `json:"bytes"` // size of a file
}

// isLink reports whether the attachment can be added as a link.
func (a trelloAttachment) isLink() bool {
	return board.IsLink(a.URL) && utf8.RuneCountInString(a.URL) <= board.LinkLength
}

// coverID returns the id of the attachment that is the card's cover, or "".
func (c *trelloCard) coverID() string {
	return cmp.Or(c.Cover.IDAttachment.value, c.IDAttachmentCover.value)
}

// hasCover reports whether the card has a cover of any kind.
func (c *trelloCard) hasCover() bool {
	return c.coverID() != "" || bool(c.Cover.IDUploadedBackground || c.Cover.Color)
}

type trelloChecklist struct {
	ID         string      `json:"id"`
	IDCard     string      `json:"idCard"`
	Name       string      `json:"name"`
	Pos        float64     `json:"pos"`
	CheckItems []checkItem `json:"checkItems"`
}

type checkItem struct {
	ID       string          `json:"id"`
	Name     string          `json:"name"`
	State    string          `json:"state"`
	Pos      float64         `json:"pos"`
	Due      lenient[string] `json:"due"`
	IDMember lenient[string] `json:"idMember"`
}

type trelloMember struct {
	ID       string `json:"id"`
	FullName string `json:"fullName"`
	Username string `json:"username"`
	Email    string `json:"email"`
}

type trelloMembership struct {
	IDMember    string `json:"idMember"`
	MemberType  string `json:"memberType"`
	Deactivated bool   `json:"deactivated"`
}

type trelloAction struct {
	ID              string       `json:"id"`
	Type            string       `json:"type"`
	Date            string       `json:"date"`
	IDMemberCreator string       `json:"idMemberCreator"`
	MemberCreator   trelloMember `json:"memberCreator"`
	Data            trelloData   `json:"data"`
}

// trelloData is the data of an action. A field can have different types in different
// actions, so a value of another type is ignored.
type trelloData struct {
	Text           lenient[string] `json:"text"`
	DateLastEdited lenient[string] `json:"dateLastEdited"`
	Card           lenient[struct {
		ID          string `json:"id"`
		Closed      bool   `json:"closed"`
		DueComplete bool   `json:"dueComplete"`
	}] `json:"card"`
	List lenient[struct {
		ID     string `json:"id"`
		Closed bool   `json:"closed"`
	}] `json:"list"`
	Old lenient[struct {
		Closed      *bool `json:"closed"`
		DueComplete *bool `json:"dueComplete"`
	}] `json:"old"`
	CheckItem lenient[struct {
		ID    string `json:"id"`
		State string `json:"state"`
	}] `json:"checkItem"`
	Plugin lenient[struct {
		Name string `json:"name"`
	}] `json:"plugin"`
}

// lenient is a value of type T, or zero if the value in the file has another type.
type lenient[T any] struct{ value T }

// UnmarshalJSONFrom accepts any value.
func (l *lenient[T]) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	v, err := dec.ReadValue()
	if err != nil {
		return err
	}
	var value T
	if json.Unmarshal(v, &value, jsontext.AllowInvalidUTF8(true)) == nil {
		l.value = value
	}
	return nil
}
