package mcp

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	_ "image/gif" // registers the decoder
	_ "image/jpeg"
	_ "image/png"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gabriel-vasile/mimetype"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	_ "golang.org/x/image/webp"

	"cardwall/internal/board"
	"cardwall/internal/op"
)

// reading is the tool whose result contains the file of an attachment: a text as text, and a
// picture as image content.
const reading = "get_attachment"

// adding is the tool that also takes the content of a file, in one of two arguments.
const (
	adding      = "add_attachment"
	textField   = "text"
	base64Field = "base64"
)

// newFile is the content of a file in the arguments of a call.
type newFile struct {
	name    string
	content []byte
}

// newFileIn returns the file in the arguments of a call, or nil if there is none. It also returns
// the arguments for the operation.
func (t *tool) newFileIn(object []byte) (*newFile, []byte, error) {
	given := map[string]jsontext.Value{}
	if t.Name != adding || json.Unmarshal(object, &given) != nil || isNull(given[textField]) && isNull(given[base64Field]) {
		return nil, object, nil
	}
	field := textField
	switch {
	case isNull(given[textField]):
		field = base64Field
	case !isNull(given[base64Field]):
		return nil, nil, board.Invalid("%s and %s must not both be given.", textField, base64Field).In(base64Field, board.RuleValue)
	}
	file := &newFile{name: textIn(given["name"])}
	var text string
	if json.Unmarshal(given[field], &text) != nil {
		return nil, nil, board.Invalid("%s must be a string.", field).In(field, board.RuleValue)
	}
	if strings.TrimSpace(file.name) == "" {
		return nil, nil, board.Invalid("name is required with %s. It is the name of the file, such as notes.md.", field).
			In("name", board.RuleRequired)
	}
	file.content = []byte(text)
	if field == base64Field {
		var err error
		if file.content, err = base64.StdEncoding.DecodeString(text); err != nil {
			return nil, nil, board.Invalid("%s must be base64 (RFC 4648, section 4) with padding.", field).In(field, board.RuleValue)
		}
	}
	delete(given, textField)
	delete(given, base64Field)
	rest, err := json.Marshal(given, json.Deterministic(true))
	return file, rest, err
}

// store stores the file of a call, if it has one and the caller may make the call.
func (e *Endpoint) store(ctx context.Context, call *op.Call, file *newFile) (err error) {
	if file == nil || call.Arguments.Path == nil {
		return nil // without the scope, the engine rejects the call
	}
	if err := e.Engine.Permit(ctx, *call); err != nil {
		return err
	}
	call.File, err = e.Files.Store(ctx, call.Caller, call.Arguments.Path("cardId"), file.name, bytes.NewReader(file.content))
	return err
}

// The maximum sizes of files that assistants read, in bytes. A picture that is larger is scaled.
const (
	maxTextFile = 1 << 20
	maxPicture  = 512_000
)

// maxSide is the maximum width and height in pixels. Larger pictures are scaled, unless they
// are damaged or too large for it.
const maxSide = 1600

// modelPictures are the media types of pictures that models accept.
var modelPictures = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// withFile adds the file of an attachment to the body of a response. It returns a picture
// separately.
func (e *Endpoint) withFile(ctx context.Context, call op.Call, body []byte) ([]byte, *sdk.ImageContent, error) {
	var response, attachment map[string]jsontext.Value
	err := json.Unmarshal(body, &response)
	if err == nil {
		err = json.Unmarshal(response["data"], &attachment)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("decode an attachment: %w", err)
	}
	mediaType := textIn(attachment["mediaType"])
	if mediaType == "" { // a link
		return body, nil, nil
	}
	call.Operation = e.Registry.Named("download_attachment")
	file, err := e.Engine.Content(ctx, call)
	if err != nil {
		return nil, nil, err
	}
	var picture *sdk.ImageContent
	field, value := "contentNotice", "An assistant cannot read the content of this file. The person can download it from "+e.linkTo(call)+"."
	switch {
	case isText(mediaType):
		text, err := e.readFile(ctx, file, maxTextFile)
		if err != nil {
			return nil, nil, err
		}
		if text.content != nil && utf8.Valid(text.content) {
			field, value = "text", strings.TrimPrefix(string(text.content), "\uFEFF")
		}
	case slices.Contains(modelPictures, mediaType):
		if picture, err = e.readPicture(ctx, file); err != nil {
			return nil, nil, err
		}
	}
	if picture != nil {
		return body, picture, nil
	}
	if attachment[field], err = json.Marshal(value); err == nil {
		response["data"], err = json.Marshal(attachment, json.Deterministic(true))
	}
	if err == nil {
		body, err = json.Marshal(response, json.Deterministic(true))
	}
	return body, nil, err
}

// isText reports whether files of a media type are texts, such as text/csv or application/json.
func isText(mediaType string) bool {
	for m := mimetype.Lookup(mediaType); m != nil; m = m.Parent() {
		if m.Is("text/plain") {
			return true
		}
	}
	return false
}

// readPicture returns a picture, scaled down until it is small enough, or nil if it cannot be.
func (e *Endpoint) readPicture(ctx context.Context, c board.Content) (*sdk.ImageContent, error) {
	for _, c.Scale = range []board.PictureSize{board.PictureLarge, board.PictureMedium, board.PictureSmall} {
		f, err := e.readFile(ctx, c, maxPicture)
		if err != nil {
			return nil, err
		}
		if f.content != nil && slices.Contains(modelPictures, f.mediaType) && isSound(f.content) {
			return &sdk.ImageContent{Data: f.content, MIMEType: f.mediaType}, nil
		}
	}
	return nil, nil
}

// isSound reports whether a picture can be decoded. A client may end a conversation that has a
// damaged one.
func isSound(content []byte) (ok bool) {
	defer func() {
		if recover() != nil { // a decoder panics on a malformed file
			ok = false
		}
	}()
	c, _, err := image.DecodeConfig(bytes.NewReader(content))
	if err != nil || c.Width > maxSide || c.Height > maxSide {
		return false
	}
	_, _, err = image.Decode(bytes.NewReader(content))
	return err == nil
}

// fileContent is the content of a file with its media type.
type fileContent struct {
	content   []byte // nil if it is too large
	mediaType string
}

func (e *Endpoint) readFile(ctx context.Context, c board.Content, limit int64) (f fileContent, err error) {
	content, mediaType, err := e.Files.Open(ctx, c)
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, content.Close()) }()
	f.mediaType = mediaType
	all, err := io.ReadAll(io.LimitReader(content, limit+1))
	if err == nil && int64(len(all)) <= limit {
		f.content = all
	}
	return f, err
}

// appendPicture appends a picture as image content.
func appendPicture(b []byte, p *sdk.ImageContent) []byte {
	b = append(append(append(b, `{"type":"image","mimeType":"`...), p.MIMEType...), `","data":"`...)
	return append(base64.StdEncoding.AppendEncode(b, p.Data), `"}`...)
}
