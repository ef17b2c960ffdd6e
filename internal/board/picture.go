package board

import (
	"crypto/sha256"
	"encoding/hex"
)

// PictureUse is what a picture is stored for in the database.
type PictureUse struct {
	Side   int   // maximum width and height in pixels
	Most   Bytes // maximum size of the stored picture
	Square bool  // whether only the largest square in the middle is kept
}

// The uses of stored pictures.
var (
	AsAvatar     = PictureUse{Side: 256, Most: 100_000, Square: true}
	AsBackground = PictureUse{Side: 1920, Most: 500_000}
)

// MaxPictureUpload is the maximum size of a file from which a picture is made.
const MaxPictureUpload Bytes = 10_000_000

// Picture is a picture that the program has encoded itself.
type Picture struct {
	MediaType string
	Content   []byte
}

// Version identifies the content of the picture.
func (p Picture) Version() string {
	const bytes = 8
	sum := sha256.Sum256(p.Content)
	return hex.EncodeToString(sum[:bytes])
}

// Pictured is a person who has a picture.
type Pictured struct {
	ID     string `json:"id" doc:"The person's user id." example:"usr_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Avatar string `json:"avatar" doc:"The version of the person's picture." example:"9f86d081884c7d65"`
}

// Avatar is the picture of a person.
type Avatar struct {
	Picture
	At Instant // when the person chose it
}

// Background is a picture behind the lists of a board.
type Background struct {
	Picture
	At Instant // when it was last chosen
}
