package attach_test

import (
	"bytes"
	"image"
	"image/color"
	"image/gif"
	"image/png"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/file"
)

// stripes returns a PNG of the given width, whose middle square is red and the rest is blue.
func stripes(t *testing.T, width, height int) []byte {
	t.Helper()
	p := image.NewNRGBA(image.Rect(0, 0, width, height))
	side := min(width, height)
	left, top := (width-side)/2, (height-side)/2
	for y := range height {
		for x := range width {
			c := color.NRGBA{B: 255, A: 255}
			if x >= left && x < left+side && y >= top && y < top+side {
				c = color.NRGBA{R: 255, A: 255}
			}
			p.SetNRGBA(x, y, c)
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, p); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// noise returns a partly transparent PNG that cannot be compressed.
func noise(t *testing.T, side int) []byte {
	t.Helper()
	p := image.NewNRGBA(image.Rect(0, 0, side, side))
	random := rand.New(rand.NewPCG(1, 2))
	for i := range p.Pix {
		p.Pix[i] = byte(random.Uint32())
	}
	var b bytes.Buffer
	if err := png.Encode(&b, p); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// animation returns a GIF of two frames.
func animation(t *testing.T) []byte {
	t.Helper()
	colors := color.Palette{color.White, color.Black}
	frame := image.NewPaletted(image.Rect(0, 0, 300, 300), colors)
	var b bytes.Buffer
	if err := gif.EncodeAll(&b, &gif.GIF{Image: []*image.Paletted{frame, frame}, Delay: []int{1, 1}}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// The picture of a person is the upright square in the middle, small and without metadata.
func TestPicturesOfPeopleAreSquare(t *testing.T) {
	t.Parallel()
	p := newPlace(apptest.New(t, t.TempDir()+"/cardwall.db", apptest.Options{}), board.PlanTeam)
	type corner struct{ x, y int } // 0 for left or top, 1 for right or bottom
	all := []corner{{0, 0}, {0, 1}, {1, 0}, {1, 1}}
	isRed := func(c color.Color) bool {
		r, _, b, _ := c.RGBA()
		return r > 0xc000 && b < 0x4000
	}
	for _, c := range []struct {
		name    string
		content []byte
		side    int
		kind    string
		red     []corner // nil for not checked
	}{
		{"wide", stripes(t, 1000, 400), 256, "image/jpeg", all},
		{"high", stripes(t, 333, 1000), 256, "image/jpeg", all},
		{"narrow", stripes(t, 5, 2000), 5, "image/jpeg", all},
		{"tiny", stripes(t, 1, 1), 1, "image/jpeg", all},
		{"small", photo(t, 100, 100, false), 100, "image/jpeg", []corner{{0, 0}}},
		{"transparent", photo(t, 600, 600, true), 256, "image/png", []corner{{0, 0}}},
		{"turned right", withOrientation(t, 600, 600, 6), 256, "image/jpeg", []corner{{1, 0}}},
		{"upside down", withOrientation(t, 600, 600, 3), 256, "image/jpeg", []corner{{1, 1}}},
		{"transversed", withOrientation(t, 600, 600, 7), 256, "image/jpeg", []corner{{1, 1}}},
		{"noise", noise(t, 600), 0, "image/png", nil},
		{"animation", animation(t), 256, "image/jpeg", nil},
	} {
		p.ada.Must("set_avatar", apptest.Fields{"content": string(c.content)})
		a := p.ada.Must("download_avatar", apptest.Fields{"userId": p.ada.ID})
		if kind := a.Header.Get("Content-Type"); kind != c.kind || len(a.Raw) > int(board.AsAvatar.Most) {
			t.Errorf("%s: got %d bytes of %s, want %s of at most %s", c.name, len(a.Raw), kind, c.kind, board.AsAvatar.Most)
		}
		for _, metadata := range []string{"Exif", "GPS"} {
			if bytes.Contains(a.Raw, []byte(metadata)) {
				t.Errorf("%s: the picture contains %s", c.name, metadata)
			}
		}
		picture, _, err := image.Decode(bytes.NewReader(a.Raw))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		b := picture.Bounds()
		if b.Dx() != b.Dy() || b.Dx() > board.AsAvatar.Side || c.side != 0 && b.Dx() != c.side {
			t.Errorf("%s: got %v, want a square of %d pixels", c.name, b, c.side)
		}
		for _, at := range all {
			got := isRed(picture.At(b.Dx()/4+at.x*b.Dx()/2, b.Dy()/4+at.y*b.Dy()/2))
			if c.red != nil && got != slices.Contains(c.red, at) {
				t.Errorf("%s: the corner %v is red: %t, want %v", c.name, at, got, c.red)
			}
		}
	}
	if err := p.Files.Blobs.List(t.Context(), "", func(i file.Info) error {
		t.Errorf("the storage contains %s, want no files", i.Name)
		return nil
	}); err != nil {
		t.Error(err)
	}
}

// A file that is not a usable picture is refused, and changes nothing.
func TestFilesThatAreNoPictureOfAPerson(t *testing.T) {
	t.Parallel()
	p := newPlace(apptest.New(t, t.TempDir()+"/cardwall.db", apptest.Options{}), board.PlanTeam)
	bomb := photo(t, 40, 30, false)
	declare(bomb, 20_000, 20_000)
	whole := photo(t, 1000, 500, false)
	jpeg := withOrientation(t, 1000, 500, 1)
	before := p.ada.Must("set_avatar", apptest.Fields{"content": string(whole)}).Text("avatar")
	for _, c := range []struct{ name, content, want string }{
		{"bomb", string(bomb), "too many pixels"},
		{"truncated png", string(whole[:len(whole)/2]), "cannot be read"},
		{"truncated jpeg", string(jpeg[:len(jpeg)/2]), "cannot be read"},
		{"header", string(whole[:20]), "not a picture"},
		{"jpeg without a frame", "\xff\xd8\xff\xe0", "not a picture"},
		{"svg", `<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`, "not a picture"},
		{"html", "<!doctype html><script>alert(1)</script>", "not a picture"},
		{"pdf", "%PDF-1.7", "not a picture"},
		{"empty", "", "empty"},
	} {
		a := p.ada.Refused(board.CodeInvalidRequest, "set_avatar", apptest.Fields{"content": c.content})
		if a.Status != http.StatusBadRequest || !strings.Contains(a.Message, c.want) {
			t.Errorf("%s: got status %d and %q, want 400 and %q", c.name, a.Status, a.Message, c.want)
		}
	}
	large := string(whole) + strings.Repeat("\x00", int(board.MaxPictureUpload))
	a := p.ada.Refused(board.CodeInvalidRequest, "set_avatar", apptest.Fields{"content": large})
	if a.Status != http.StatusRequestEntityTooLarge {
		t.Errorf("large: got status %d and %q, want 413", a.Status, a.Message)
	}
	wrong := http.Header{"Content-Type": {"text/html"}}
	if a := p.ada.CallWith("set_avatar", apptest.Fields{"content": string(whole)}, wrong); a.Status != http.StatusUnsupportedMediaType {
		t.Errorf("text/html: got status %d, want 415", a.Status)
	}
	if after := p.ada.Must("get_session", nil).Text("user.avatar"); after != before {
		t.Errorf("got picture %q, want that from before, %q", after, before)
	}
	// A polyglot is a picture, but only the picture of it remains.
	p.ada.Must("set_avatar", apptest.Fields{"content": string(jpeg) + "<script>alert(1)</script>"})
	if a := p.ada.Must("download_avatar", apptest.Fields{"userId": p.ada.ID}); bytes.Contains(a.Raw, []byte("script")) {
		t.Error("the picture contains the script that followed it")
	}
	if err := p.Files.Blobs.List(t.Context(), "", func(i file.Info) error {
		t.Errorf("the storage contains %s, want no files", i.Name)
		return nil
	}); err != nil {
		t.Error(err)
	}
}
