package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// maxTrelloFile is the maximum size of a file. Trello's own limits keep exports
// far below it.
const maxTrelloFile = 256 << 20

// ImportTrello adds a board to a draft, from the document that Trello's "Export as
// JSON" writes. The board gets one activity entry, board.imported.
//
// People are matched to people of the workspace: by email address if the file
// has one, else by a full name or user name that only one person has. No
// accounts are created; the report lists assignments that were dropped. It also
// lists everything that was skipped or repaired.
//
// It returns a fault with a location, before it adds anything, for a file that is
// not JSON, has values of a wrong type, or exceeds this server's limits
// for a board.
func ImportTrello(ctx context.Context, d *store.Draft, r io.Reader, progress Progress) (Report, error) {
	file, err := readTrello(r)
	if err != nil {
		return Report{}, err
	}
	v, w := d.View(), d.Workspace()
	members, err := everyMember(ctx, v, w.ID)
	if err != nil {
		return Report{}, err
	}
	p := newPlan(file, members, planContext{w.ID, v.Caller().UserID, v.Limits(), v.Now(), d.NewID})
	if err := p.make(); err != nil {
		return Report{}, err
	}
	if err := p.write(ctx, d, progress); err != nil {
		return Report{}, fmt.Errorf("import from Trello: %w", err)
	}
	return p.report, d.Flush(ctx)
}

func everyMember(ctx context.Context, v *store.View, workspaceID string) ([]board.Member, error) {
	var all []board.Member
	err := pages(func(behind string) ([]board.Member, error) {
		return v.Members(ctx, workspaceID, behind, pageSize)
	}, func(m board.Member) (string, error) {
		all = append(all, m)
		return m.ID, nil
	})
	return all, err
}

// readTrello decodes a file. It decodes only what an import uses and what a
// report counts; everything else may have any form.
func readTrello(r io.Reader) (*trelloBoard, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxTrelloFile+1))
	if err != nil {
		return nil, fmt.Errorf("read the file: %w", err)
	}
	if len(text) > maxTrelloFile {
		return nil, board.Invalid("The file is larger than %d MiB.", maxTrelloFile>>20)
	}
	var file trelloBoard
	// Trello truncates texts inside of surrogate pairs. Such a half becomes
	// U+FFFD.
	if err := json.Unmarshal(text, &file, jsontext.AllowInvalidUTF8(true)); err != nil {
		return nil, trelloFault(err)
	}
	if file.Lists == nil || file.Cards == nil {
		return nil, board.Invalid("lists and cards are required; the file is not an export of a Trello board.")
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
		return board.Invalid("The file is cut off: it ends in the middle of a value.")
	case errors.As(err, &syntax):
		return jsonFault(syntax.Err, string(syntax.JSONPointer), syntax.ByteOffset)
	}
	return board.Invalid("The file is not a Trello export.")
}

// pile counts objects that cannot be imported: the elements of an array, or one
// for any other value.
type pile int

// UnmarshalJSONFrom accepts any value.
func (p *pile) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
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

// present reports whether a value exists and is not null, false or "".
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
	CustomFields []struct {
		Name string `json:"name"`
	} `json:"customFields"`
	PluginData pile `json:"pluginData"`
	PowerUps   pile `json:"powerUps"`
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
	ID               string        `json:"id"`
	IDShort          float64       `json:"idShort"`
	IDList           string        `json:"idList"`
	Name             string        `json:"name"`
	Desc             string        `json:"desc"`
	Closed           bool          `json:"closed"`
	DateClosed       string        `json:"dateClosed"`
	Pos              float64       `json:"pos"`
	Due              string        `json:"due"`
	Start            string        `json:"start"`
	DueComplete      bool          `json:"dueComplete"`
	DateCompleted    string        `json:"dateCompleted"`
	DateLastActivity string        `json:"dateLastActivity"`
	IDMembers        []string      `json:"idMembers"`
	IDLabels         []string      `json:"idLabels"`
	Labels           []trelloLabel `json:"labels"` // instead of idLabels in older files
	IDMembersVoted   pile          `json:"idMembersVoted"`
	Attachments      pile          `json:"attachments"`
	Stickers         pile          `json:"stickers"`
	PluginData       pile          `json:"pluginData"`
	CustomFieldItems pile          `json:"customFieldItems"`
	Address          present       `json:"address"`
	Coordinates      present       `json:"coordinates"`
	LocationName     present       `json:"locationName"`
	IsTemplate       present       `json:"isTemplate"`
	CardRole         present       `json:"cardRole"`
	Subscribed       present       `json:"subscribed"`
	Cover            struct {
		IDAttachment         present `json:"idAttachment"`
		IDUploadedBackground present `json:"idUploadedBackground"`
		Color                present `json:"color"`
	} `json:"cover"`
	Badges struct {
		Comments float64 `json:"comments"`
		Votes    float64 `json:"votes"`
	} `json:"badges"`
}

type trelloChecklist struct {
	ID         string      `json:"id"`
	IDCard     string      `json:"idCard"`
	Name       string      `json:"name"`
	Pos        float64     `json:"pos"`
	CheckItems []checkItem `json:"checkItems"`
}

type checkItem struct {
	ID       string  `json:"id"`
	Name     string  `json:"name"`
	State    string  `json:"state"`
	Pos      float64 `json:"pos"`
	Due      present `json:"due"`
	IDMember present `json:"idMember"`
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

// trelloData is the data of an action. The same names hold different types in
// different actions, so each value is decoded separately.
type trelloData struct {
	Text           loose[string] `json:"text"`
	DateLastEdited loose[string] `json:"dateLastEdited"`
	Card           loose[struct {
		ID          string `json:"id"`
		Closed      bool   `json:"closed"`
		DueComplete bool   `json:"dueComplete"`
	}] `json:"card"`
	List loose[struct {
		ID     string `json:"id"`
		Closed bool   `json:"closed"`
	}] `json:"list"`
	Old loose[struct {
		Closed      *bool `json:"closed"`
		DueComplete *bool `json:"dueComplete"`
	}] `json:"old"`
	CheckItem loose[struct {
		ID    string `json:"id"`
		State string `json:"state"`
	}] `json:"checkItem"`
	Plugin loose[struct {
		Name string `json:"name"`
	}] `json:"plugin"`
}

// loose is a value that may have an unexpected type; then it is zero.
type loose[T any] struct{ is T }

// UnmarshalJSONFrom accepts any value.
func (l *loose[T]) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	v, err := dec.ReadValue()
	if err != nil {
		return err
	}
	var is T
	if json.Unmarshal(v, &is, jsontext.AllowInvalidUTF8(true)) == nil {
		l.is = is
	}
	return nil
}
