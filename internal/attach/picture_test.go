package attach_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"net/http"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/file"
)

// photo returns a PNG whose top left quarter is red. The rest is blue or, if transparent is
// true, blue on the left and transparent on the right.
func photo(t *testing.T, width, height int, transparent bool) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, quarters(width, height, transparent)); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func quarters(width, height int, transparent bool) image.Image {
	p := image.NewNRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			c := color.NRGBA{B: 255, A: 255}
			if x < width/2 && y < height/2 {
				c = color.NRGBA{R: 255, A: 255}
			}
			if transparent && x >= width/2 {
				c.A = 0
			}
			p.SetNRGBA(x, y, c)
		}
	}
	return p
}

// withOrientation returns a JPEG photo with an EXIF orientation and, as other metadata, a
// description that contains GPS.
func withOrientation(t *testing.T, width, height, orientation int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, quarters(width, height, false), nil); err != nil {
		t.Fatal(err)
	}
	exif := []byte("Exif\x00\x00MM\x00*\x00\x00\x00\x08" + "\x00\x02" +
		"\x01\x12\x00\x03\x00\x00\x00\x01\x00" + string(rune(orientation)) + "\x00\x00" + // Orientation, SHORT
		"\x01\x0e\x00\x02\x00\x00\x00\x04GPS\x00" + // ImageDescription, ASCII
		"\x00\x00\x00\x00")
	size := len(exif) + 2
	out := append([]byte{0xff, 0xd8, 0xff, 0xe1, byte(size >> 8), byte(size)}, exif...)
	return append(out, b.Bytes()[2:]...)
}

// A scaled picture is upright, and contains no metadata.
func TestPicturesAreScaled(t *testing.T) {
	t.Parallel()
	p := newPlace(apptest.New(t, t.TempDir()+"/cardwall.db", apptest.Options{}), board.PlanTeam)
	type corner struct{ x, y int } // 0 for left or top, 1 for right or bottom
	for _, c := range []struct {
		name          string
		content       []byte
		width, height int // as the attachment shows it
		kind          string
		red           corner
	}{
		{"png", photo(t, 1000, 500, false), 1000, 500, "image/jpeg", corner{0, 0}},
		{"transparent", photo(t, 1000, 500, true), 1000, 500, "image/png", corner{0, 0}},
		{"small", photo(t, 100, 50, false), 100, 50, "image/png", corner{0, 0}},
		{"upright", withOrientation(t, 1000, 500, 1), 1000, 500, "image/jpeg", corner{0, 0}},
		{"mirrored", withOrientation(t, 1000, 500, 2), 1000, 500, "image/jpeg", corner{1, 0}},
		{"upside down", withOrientation(t, 1000, 500, 3), 1000, 500, "image/jpeg", corner{1, 1}},
		{"flipped", withOrientation(t, 1000, 500, 4), 1000, 500, "image/jpeg", corner{0, 1}},
		{"transposed", withOrientation(t, 1000, 500, 5), 500, 1000, "image/jpeg", corner{0, 0}},
		{"turned right", withOrientation(t, 1000, 500, 6), 500, 1000, "image/jpeg", corner{1, 0}},
		{"transversed", withOrientation(t, 1000, 500, 7), 500, 1000, "image/jpeg", corner{1, 1}},
		{"turned left", withOrientation(t, 1000, 500, 8), 500, 1000, "image/jpeg", corner{0, 1}},
	} {
		added := p.ada.Attach(p.card, c.name, c.content)
		if added.Get("width") != float64(c.width) || added.Get("height") != float64(c.height) {
			t.Errorf("%s: got %v × %v pixels, want %d × %d", c.name, added.Get("width"), added.Get("height"), c.width, c.height)
		}
		for range 2 { // the second time, the scaled picture is stored
			a := p.ada.Call("download_attachment", apptest.Fields{"attachmentId": added.ID(), "size": "small"})
			scaled, _, err := image.Decode(bytes.NewReader(a.Raw))
			if err != nil || a.Header.Get("Content-Type") != c.kind || bytes.Contains(a.Raw, []byte("GPS")) {
				t.Fatalf("%s: got type %s, error %v; want a %s without metadata", c.name, a.Header.Get("Content-Type"), err, c.kind)
			}
			b := scaled.Bounds()
			if max(b.Dx(), b.Dy()) > 320 || b.Dx()*c.height != b.Dy()*c.width {
				t.Errorf("%s: got %v, want it to fit into 320 pixels with the same shape", c.name, b)
			}
			for _, at := range []corner{{0, 0}, {0, 1}, {1, 0}, {1, 1}} {
				r, _, _, alpha := scaled.At(b.Min.X+b.Dx()/4+at.x*b.Dx()/2, b.Min.Y+b.Dy()/4+at.y*b.Dy()/2).RGBA()
				if isRed := r > 0x8000 && alpha > 0; isRed != (at == c.red) {
					t.Errorf("%s: the corner %v is red: %t, want %t", c.name, at, isRed, at == c.red)
				}
			}
		}
	}
}

// declare makes the header of a PNG file say that the picture has a different size.
func declare(file []byte, width, height uint32) {
	binary.BigEndian.PutUint32(file[16:], width)
	binary.BigEndian.PutUint32(file[20:], height)
	binary.BigEndian.PutUint32(file[29:], crc32.ChecksumIEEE(file[12:29]))
}

// A picture that cannot be decoded, or that would need too much memory, is treated like any
// other file.
func TestMalformedPicturesAreFiles(t *testing.T) {
	t.Parallel()
	p := newPlace(apptest.New(t, t.TempDir()+"/cardwall.db", apptest.Options{}), board.PlanTeam)
	large := photo(t, 40, 30, false)
	declare(large, 20_000, 20_000)
	whole := photo(t, 1000, 500, false)
	for name, content := range map[string][]byte{
		"bomb.png": large, "truncated.png": whole[:len(whole)/2], "header.png": whole[:20], "jpeg.jpg": []byte("\xff\xd8\xff\xe0"),
		"gif.gif": []byte("GIF89a"), "webp.webp": []byte("RIFF\x00\x00\x00\x00WEBPVP8 "),
	} {
		added := p.ada.Attach(p.card, name, content)
		if width := added.Get("width"); name == "bomb.png" && width != 20_000.0 {
			t.Errorf("%s: got width %v, want that of its header, so that its size is what prevents decoding it", name, width)
		}
		id := added.ID()
		for range 2 {
			a := p.ada.Call("download_attachment", apptest.Fields{"attachmentId": id, "size": "small"})
			if a.Status != http.StatusOK || !bytes.Equal(a.Raw, content) {
				t.Errorf("%s: got status %d and %d bytes, want the %d bytes of the file", name, a.Status, len(a.Raw), len(content))
			}
		}
	}
	empty := 0 // records that a picture cannot be decoded
	if err := p.Files.Blobs.List(t.Context(), "thumbs/", func(i file.Info) error {
		if empty++; i.Size != 0 {
			t.Errorf("%s has %d bytes, want none", i.Name, i.Size)
		}
		return nil
	}); err != nil || empty != 1 {
		t.Errorf("got %d empty files and error %v, want one for truncated.png", empty, err)
	}
}
