package app_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cardwall/internal/apptest"
	"cardwall/internal/op"
)

// exampleTime is the time at which the world is created. The example calls are made a minute later.
var exampleTime = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// TestGoldenExamples calls each operation with its sample input. It compares the request and the
// response with the examples that the OpenAPI document shows. Run `make golden` to update the
// examples. Each call that follows a write starts with a fresh copy of the world, so that a new
// operation does not change the examples of other operations.
func TestGoldenExamples(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := apptest.New(t, filepath.Join(dir, "world.db"), apptest.Options{})
	s.Clock.Advance(exampleTime.Sub(s.Clock.Now()))
	w := newWorld(s)
	calls := map[string]record{}
	var (
		call      *world
		walBefore int64
	)
	for _, o := range s.Registry.All() {
		if call == nil || walBefore != walSize(t, call) {
			call = w.copy(filepath.Join(dir, o.Name+".db"))
			walBefore = walSize(t, call)
		}
		in := call.sample(t, o)
		if o.TakesPart() { // the request and the response are not JSON
			continue
		}
		response := call.as(o).Must(o.Name, in).Raw
		if !utf8.Valid(response) { // a picture
			continue
		}
		if o.Streams() && o.Media != op.JSON || o.HasContent() {
			response = asText(t, response)
		}
		token := call.owner.Token[len(call.owner.Token)-4:]
		response = bytes.ReplaceAll(response, []byte(`"lastFour":"`+token+`"`), []byte(`"lastFour":"1x2y"`))
		if o.Name == "list_tokens" || o.Name == "create_token" {
			response = anyLastFour.ReplaceAll(response, []byte(`"lastFour":"1x2y"`))
		}
		calls[o.Name] = exampleOf(t, o, in, response)
	}
	got, err := json.Marshal(calls, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	apptest.Golden(t, filepath.Join("..", "rest", "examples.json"), "the set of example calls", got)
}

// asText returns the first three lines of a response that is not JSON, as a JSON string.
func asText(t *testing.T, response []byte) []byte {
	t.Helper()
	lines := bytes.SplitAfterN(response, []byte("\n"), 4)
	text, err := json.Marshal(string(bytes.Join(lines[:min(3, len(lines))], nil)))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// walSize returns the size of the write-ahead log of the world's database. A call that writes
// increases it.
func walSize(t *testing.T, w *world) int64 {
	t.Helper()
	info, err := os.Stat(w.Database + "-wal")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if err != nil {
		return 0
	}
	return info.Size()
}

// copy returns the same world on a copy of its database.
func (w *world) copy(database string) *world {
	s := w.Service.Copy(database)
	s.Clock.Advance(exampleTime.Add(time.Minute).Sub(s.Clock.Now()))
	other := *w
	other.Service, other.owner, other.other = s, w.owner.At(s), w.other.At(s)
	return &other
}

// exampleOf returns a call as the document shows it. IDs, times and secrets are the same in every
// run, and arrays have at most two elements.
func exampleOf(t *testing.T, o *op.Operation, in fields, response []byte) record {
	t.Helper()
	body := record{}
	path := []string{}
	for _, f := range o.Input.Fields {
		v, given := in[f.Name]
		switch {
		case !given:
		case f.In == op.InBody:
			body[f.Name] = v
		case f.In == op.InPath:
			path = append(path, fmt.Sprint(v))
		}
	}
	sent, err := json.Marshal(body, json.Deterministic(true))
	if err != nil {
		t.Fatal(err)
	}
	e := stableIDs{}
	// Path parameters come first, so that they get the IDs that the parameter examples use.
	e.stable(strings.Join(path, " "))
	out := record{}
	if o.Input.Body != nil {
		out["request"] = jsontext.Value(e.stable(string(sent)))
	}
	var short bytes.Buffer
	enc := jsontext.NewEncoder(&short)
	if err := shorten(jsontext.NewDecoder(bytes.NewReader(response)), enc); err != nil {
		t.Fatalf("shorten the response of %s: %v", o.Name, err)
	}
	out["response"] = jsontext.Value(e.stable(short.String()))
	return out
}

// shorten copies one JSON value. It keeps the first two elements of each array and sorts the
// changes of an activity entry by name.
func shorten(from *jsontext.Decoder, to *jsontext.Encoder) error {
	t, err := from.ReadToken()
	if err != nil {
		return err
	}
	kind, isChanges := t.Kind(), t.Kind() == '"' && t.String() == "changes"
	if err := to.WriteToken(t); err != nil {
		return err
	}
	if isChanges && from.PeekKind() == '{' {
		v, err := from.ReadValue()
		if err == nil {
			err = v.Canonicalize()
		}
		return cmp.Or(err, to.WriteValue(v))
	}
	if kind != '{' && kind != '[' {
		return nil
	}
	for n := 0; from.PeekKind() != kind+2; n++ { // in ASCII, the closing bracket is two after the opening one
		if kind == '[' && n >= 2 {
			err = from.SkipValue()
		} else {
			err = shorten(from, to)
		}
		if err != nil {
			return err
		}
	}
	if t, err = from.ReadToken(); err != nil {
		return err
	}
	return to.WriteToken(t)
}

// stableIDs maps the IDs of a call to the IDs that the document shows.
type stableIDs map[string]string

var (
	anyID          = regexp.MustCompile(`([a-z]{3}_)[0-9a-hjkmnp-tv-z]{26}\b`)
	anyInstant     = regexp.MustCompile(`\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\b`)
	anySecret      = regexp.MustCompile(`whsec_[0-9A-Za-z+/]{43}=`)
	anyLastFour    = regexp.MustCompile(`"lastFour":"[0-9A-Za-z]{4}"`)
	anyToken       = regexp.MustCompile(`cwl_[0-9A-Za-z]{36}`)
	anyLinkSecret  = regexp.MustCompile(`"secret":"[A-Z2-7]{26}"`)
	anyPageKey     = regexp.MustCompile(`("key":"|/p/)[A-Z2-7]{26}"`)
	anyTicket      = regexp.MustCompile(`"ticket":"[0-9A-Za-z_-]{32}"`)
	anySharedFile  = regexp.MustCompile(`"file":"[0-9a-f]{24}"`)
	anyTag         = regexp.MustCompile(`"tag":"[0-9a-f]{24}"`)
	anyCode        = regexp.MustCompile(`\bcode=[A-Z2-7]{26}\b`)
	anyFeedURL     = regexp.MustCompile(`/ical/[A-Z2-7]{26}\.ics`)
	anySignedToken = regexp.MustCompile(`"token":"[0-9A-Za-z_-]{60,70}"`)
	anyUserCode    = regexp.MustCompile(`"userCode":"[A-Z]{4}-[A-Z]{4}"`)
	// Base64url values in WebAuthn requests and responses.
	anyPasskeyValue = regexp.MustCompile(`"(attestationObject|authenticatorData|challenge|clientDataJSON|id|rawId|` +
		`signature|userHandle)":"[0-9A-Za-z_-]{35,}"`)
	anyCursor = regexp.MustCompile(`"(nextCursor|cursor)":"[^"]*"`)
)

// stable replaces every value that differs between runs. It rounds times down to multiples of ten
// minutes, because a run takes less than that.
func (ids stableIDs) stable(text string) string {
	const alphabet, first = "0123456789abcdefghjkmnpqrstvwxyz", "01jb2m3n4p5q6r7s8t9v0w1x2y"
	text = anyID.ReplaceAllStringFunc(text, func(id string) string {
		if ids[id] == "" {
			n := 0
			for other := range maps.Keys(ids) {
				if other[:4] == id[:4] {
					n++
				}
			}
			last := []byte(first)
			for i := len(last) - 1; n > 0; i-- {
				n += strings.IndexByte(alphabet, last[i])
				last[i], n = alphabet[n%32], n/32
				if n == 0 {
					break
				}
			}
			ids[id] = id[:4] + string(last)
		}
		return ids[id]
	})
	text = anyInstant.ReplaceAllStringFunc(text, func(at string) string {
		return at[:15] + "0:00.000Z"
	})
	text = anySecret.ReplaceAllLiteralString(text, "whsec_"+strings.Repeat("MDEy", 10)+"MDE=")
	text = anyToken.ReplaceAllLiteralString(text, "cwl_3mK9vQ2xT7bN4wR8sJ1hF6dL5pZ0cYeU1aBc2d")
	text = anyCode.ReplaceAllLiteralString(text, "code=K7Q2M4XW3ZB5N6VD2RJHF7TCGP")
	text = anyFeedURL.ReplaceAllLiteralString(text, "/ical/K7Q2M4XW3ZB5N6VD2RJHF7TCGP.ics")
	text = anySignedToken.ReplaceAllLiteralString(text, `"token":"Zm9yLXRoZS1leGFtcGxl"`)
	text = anyUserCode.ReplaceAllLiteralString(text, `"userCode":"WDJB-MJHT"`)
	text = anyLinkSecret.ReplaceAllLiteralString(text, `"secret":"K7Q2M4XW3ZB5N6VD2RJHF7TCGP"`)
	text = anyPageKey.ReplaceAllString(text, `${1}K7Q2M4XW3ZB5N6VD2RJHF7TCGP"`)
	text = anyTicket.ReplaceAllLiteralString(text, `"ticket":"AAABnK5mQAB7h2Wc0vJt3sYq1LxP8dEo"`)
	text = anySharedFile.ReplaceAllLiteralString(text, `"file":"9f2c7d3a9e1b4c2d8f6a7b90"`)
	text = anyTag.ReplaceAllLiteralString(text, `"tag":"5f0c7d3a9e1b4c2d8f6a7b90"`)
	text = anyPasskeyValue.ReplaceAllString(text, `"$1":"3q2-7w"`)
	return anyCursor.ReplaceAllString(text, `"$1":"eyJiZWhpbmQiOiI0MiJ9"`)
}
