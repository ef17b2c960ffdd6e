package app_test

import (
	"bytes"
	"image"
	"image/png"
	"testing"
)

// picture returns a PNG file of the given size.
func picture(t *testing.T, width, height int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
