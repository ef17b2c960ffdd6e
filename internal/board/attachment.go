package board

import (
	"net/url"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Attachment is a file or a link on a card.
type Attachment struct {
	ID        string         `json:"id" doc:"The attachment's id." example:"att_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	CardID    string         `json:"cardId" doc:"The id of the card that the attachment is on." example:"crd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	BoardID   string         `json:"boardId" doc:"The id of the board that the card is on." example:"brd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Kind      AttachmentKind `json:"kind" enum:"file,link" doc:"Whether the attachment is a file or a link." example:"file"`
	Name      string         `json:"name" doc:"The file name, or the text of the link." example:"Cover photo.jpg"`
	URL       *string        `json:"url" format:"uri" doc:"The URL of a link; null for a file." example:"https://example.com/brief"`
	MediaType *string        `json:"mediaType" doc:"The media type of a file, determined from its content; null for a link." example:"image/jpeg"`
	Size      *int64         `json:"size" doc:"The size of a file in bytes; null for a link." example:"248116"`
	SHA256    *string        `json:"sha256" doc:"The SHA-256 hash of a file, in hexadecimal; null for a link." example:"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"`
	Width     *int           `json:"width" doc:"The width of a picture in pixels; null if the attachment is not a picture." example:"1600"`
	Height    *int           `json:"height" doc:"The height of a picture in pixels; null if the attachment is not a picture." example:"900"`
	Cover     bool           `json:"cover" doc:"Whether the picture is the card's cover." example:"false"`
	CreatedBy *string        `json:"createdBy" doc:"The id of the person who added the attachment; null if it was not added by a person." example:"usr_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	CreatedAt Instant        `json:"createdAt" format:"date-time" doc:"When the attachment was added." example:"2026-03-02T09:00:00.000Z"`
	UpdatedAt Instant        `json:"updatedAt" format:"date-time" doc:"When the attachment last changed." example:"2026-03-02T09:00:00.000Z"`

	Blob Blob `json:"-"` // internal; zero for a link
}

// AttachmentKind distinguishes files from links.
type AttachmentKind string

// The kinds of attachments.
const (
	AttachedFile AttachmentKind = "file"
	AttachedLink AttachmentKind = "link"
)

// Blob identifies the stored content of a file.
type Blob struct {
	OrganizationID string // the organization in which the file was uploaded
	Hash           string // SHA-256 in hexadecimal
}

// StoredFile is a file whose content is already stored as a blob.
type StoredFile struct {
	Blob          Blob
	Name          string // as the client gave it
	MediaType     string // determined from the content
	Size          int64  // in bytes
	Width, Height *int   // of a picture, as it is shown; nil if the file is not a picture
}

// Content describes a file that is sent to a client.
type Content struct {
	Blob      Blob
	Name      string
	MediaType string
	At        Instant     // when the file was added
	Scale     PictureSize // "" for the file as it is
	Picture   *Picture    // the content itself, for a picture that is not stored as a blob
	Kept      bool        // the address identifies the content, so a client need not ask again
}

// Tag identifies the content.
func (c Content) Tag() string {
	if c.Picture != nil {
		return c.Picture.Version()
	}
	return c.Blob.Hash + string(c.Scale)
}

// PictureSize is a size to which pictures are scaled.
type PictureSize string

// The sizes of scaled pictures.
const (
	PictureSmall  PictureSize = "small"  // for tiles and lists
	PictureMedium PictureSize = "medium" // for cards
	PictureLarge  PictureSize = "large"  // for a screen
)

// Cover is the picture that is shown on a card's tile.
type Cover struct {
	AttachmentID string `json:"attachmentId" doc:"The id of the picture." example:"att_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Width        int    `json:"width" doc:"The width of the picture in pixels." example:"1600"`
	Height       int    `json:"height" doc:"The height of the picture in pixels." example:"900"`
}

// id returns the id of the picture, or nil if there is no cover.
func (c *Cover) id() *string {
	if c == nil {
		return nil
	}
	return &c.AttachmentID
}

// CanBeCover reports whether the attachment is a picture that a tile can show.
func (a Attachment) CanBeCover() bool { return a.Width != nil && a.Height != nil }

// maxFileName is the maximum length of an attachment's name in characters.
const maxFileName = 255

// maxExtension is the maximum length of the extension that a long file name keeps, with its dot.
const maxExtension = 16

// LinkLength is the maximum length of the URL of a link in characters.
const LinkLength = 2048

// IsLink reports whether an address can be the URL of a link: an absolute http or https URL
// without credentials.
func IsLink(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil
}

// FileName returns the name that a client gave for a file, without the folders before it
// and without control characters, limited to 255 characters. A long name keeps its extension.
// FileName returns "File" if nothing remains.
func FileName(given string) string {
	given = given[strings.LastIndexAny(given, `/\`)+1:]
	given = strings.TrimSpace(visible(given))
	if strings.Trim(given, ".") == "" {
		return "File"
	}
	extension := path.Ext(given)
	if utf8.RuneCountInString(extension) > maxExtension {
		extension = ""
	}
	return truncate(strings.TrimSuffix(given, extension), maxFileName-utf8.RuneCountInString(extension)) + extension
}

// LinkName returns the name that a client gave for a link, without control characters and
// limited to 255 characters.
func LinkName(given string) string {
	return truncate(strings.TrimSpace(visible(given)), maxFileName)
}

// visible removes invalid UTF-8, control characters, and formatting characters, which can
// disguise the extension of a file by changing the direction of text. It keeps the joiners
// that some scripts and emoji need.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		const zeroWidthNonJoiner, zeroWidthJoiner = '\u200c', '\u200d'
		if r == zeroWidthNonJoiner || r == zeroWidthJoiner {
			return r
		}
		if unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
}

// truncate returns the first characters of a name.
func truncate(name string, characters int) string {
	for i, n := 0, 0; i < len(name); n++ {
		if n == characters {
			return name[:i]
		}
		_, size := utf8.DecodeRuneInString(name[i:])
		i += size
	}
	return name
}
