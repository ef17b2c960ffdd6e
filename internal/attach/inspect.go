package attach

import (
	"errors"
	"fmt"
	_ "image/gif" // registers the decoder
	"io"
	"strings"

	"github.com/gabriel-vasile/mimetype"
	_ "golang.org/x/image/webp" // registers the decoder
)

// maxHeader is the maximum number of bytes at the start of a picture that are read to
// find its size.
const maxHeader = 1 << 20

// inspect determines the media type of a file from its content. For a picture, it also
// returns the width and the height after the EXIF orientation is applied. They are nil if
// they cannot be read.
func inspect(content io.ReadSeeker) (mediaType string, width, height *int, err error) {
	found, err := mimetype.DetectReader(content)
	if err != nil {
		return "", nil, nil, fmt.Errorf("read a file: %w", err)
	}
	mediaType, _, _ = strings.Cut(found.String(), ";") // without the character set
	if !decodable(mediaType) {
		return mediaType, nil, nil, nil
	}
	if _, err := content.Seek(0, io.SeekStart); err != nil {
		return "", nil, nil, fmt.Errorf("read a file: %w", err)
	}
	s, err := safeShape(content)
	if errors.Is(err, errUnscaled) {
		return mediaType, nil, nil, nil
	}
	if s.orientation >= 5 { // stored on its side
		s.width, s.height = s.height, s.width
	}
	return mediaType, &s.width, &s.height, err
}

// safeShape is like readShape, but returns errUnscaled if a decoder panics on a malformed
// file.
func safeShape(content io.ReadSeeker) (s shape, err error) {
	defer func() {
		if recover() != nil {
			s, err = shape{}, errUnscaled
		}
	}()
	return readShape(content)
}

// decodable reports whether the program can decode pictures of a media type.
func decodable(mediaType string) bool {
	switch mediaType {
	case "image/jpeg", "image/png", "image/gif", "image/webp":
		return true
	}
	return false
}
