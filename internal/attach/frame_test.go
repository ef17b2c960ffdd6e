package attach

import (
	"strings"
	"testing"
)

// The memory for a JPEG file is estimated from the frame header that the decoder finds, even
// if the bytes before it look like another one.
func TestMemoryOfJPEG(t *testing.T) {
	t.Parallel()
	const start = "\xff\xd8"
	frame := func(marker byte, components string) string {
		return "\xff" + string([]byte{marker}) + "\x00\x11\x08\x00\x10\x00\x10" + components
	}
	const (
		subsampled = "\x03\x01\x22\x00\x02\x11\x01\x03\x11\x01"
		full       = "\x03\x01\x11\x00\x02\x11\x01\x03\x11\x01"
		fullAt2    = "\x03\x01\x22\x00\x02\x22\x01\x03\x22\x01"
		gray       = "\x01\x01\x11\x00"
		rgb        = "\x03R\x11\x00G\x11\x01B\x11\x01"
	)
	for name, c := range map[string]struct {
		head string
		want float64
	}{
		"4:2:0": {start + frame(0xc0, subsampled), 1.5}, "4:4:4": {start + frame(0xc0, full), 3},
		"4:4:4, written as 2 by 2": {start + frame(0xc0, fullAt2), 3}, "gray": {start + frame(0xc0, gray), 1},
		"RGB": {start + frame(0xc0, rgb), 7}, "progressive 4:2:0": {start + frame(0xc2, subsampled), 7.5},
		"after a restart marker": {start + "\xff\xd0" + frame(0xc2, full) + strings.Repeat("x", 100) + frame(0xc0, gray), 15},
		"after a stuffed byte":   {start + "\xff\x00" + frame(0xc2, full) + frame(0xc0, gray), 15},
		"after fill bytes":       {start + "\xff\xff" + frame(0xc2, full)[1:] + frame(0xc0, gray), 15},
		"after other bytes":      {start + "abc" + frame(0xc2, full) + frame(0xc0, gray), 15},
		"Adobe RGB":              {start + "\xff\xee\x00\x0eAdobe\x00\x64\x00\x00\x00\x00\x00" + frame(0xc0, full), 7},
		"without a frame":        {start, maxMemory}, "cut off": {start + frame(0xc0, full)[:12], maxMemory},
	} {
		if got := frameOf([]byte(c.head)).memory; got != c.want {
			t.Errorf("%s: got %v bytes per pixel, want %v", name, got, c.want)
		}
	}
}

// Reading the orientation takes little time and memory, whatever the file contains.
func TestOrientationOfHostileFiles(t *testing.T) {
	t.Parallel()
	exif := func(tiff string) []byte { return []byte("Exif\x00\x00" + tiff) }
	for name, c := range map[string]struct {
		segment []byte
		want    int
	}{
		"little-endian":                {exif("II*\x00\x08\x00\x00\x00\x01\x00\x12\x01\x03\x00\x01\x00\x00\x00\x08\x00\x00\x00"), 8},
		"big-endian":                   {exif("MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00\x06\x00\x00"), 6},
		"an invalid value":             {exif("MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00\x09\x00\x00"), 1},
		"directories in a circle":      {exif("MM\x00*\x00\x00\x00\x08\x00\x00\x00\x00\x00\x0e\x00\x00\x00\x00\x00\x08"), 1},
		"a directory outside the file": {exif("MM\x00*\xff\xff\xff\xff\x00\x01"), 1},
		"more entries than bytes":      {exif("MM\x00*\x00\x00\x00\x08\xff\xff\x01\x0e"), 1},
		"no EXIF":                      {[]byte("http://ns.adobe.com/xap/1.0/"), 1}, "nothing": {nil, 1},
	} {
		if got := orientationOf(c.segment); got != c.want {
			t.Errorf("%s: got orientation %d, want %d", name, got, c.want)
		}
	}
}
