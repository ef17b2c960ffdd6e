package board

import (
	"crypto/sha256"
	"encoding/hex"
)

// AvatarSide is the maximum width and height of the picture of a person in pixels.
const AvatarSide = 256

// MaxAvatar is the maximum size of the stored picture of a person.
const MaxAvatar Bytes = 100_000

// MaxPictureUpload is the maximum size of a file from which the picture of a person is made.
const MaxPictureUpload Bytes = 10_000_000

// Picture is a small picture that the program has encoded itself.
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
