package attach

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"cardwall/internal/board"
)

// progressive returns a gray JPEG picture with the given number of scans after the first. Each
// of them covers all blocks with a few bytes.
func progressive(side, scans int) []byte {
	var b bytes.Buffer
	segment := func(marker byte, content string) {
		b.Write([]byte{0xff, marker})
		_ = binary.Write(&b, binary.BigEndian, uint16(len(content)+2)) // never fails
		b.WriteString(content)
	}
	table := func(class byte, value byte) { // one code of one bit
		segment(0xc4, string([]byte{class, 1})+strings.Repeat("\x00", 15)+string([]byte{value}))
	}
	b.WriteString("\xff\xd8")
	segment(0xdb, "\x00"+strings.Repeat("\x01", 64))
	size := string(binary.BigEndian.AppendUint16(nil, uint16(side)))
	segment(0xc2, "\x08"+size+size+"\x01\x01\x11\x00")
	table(0x00, 0x00)
	table(0x10, 0xe0)                            // the next 2¹⁴ blocks and more have no coefficients
	segment(0xda, "\x01\x01\x00\x00\x00\x00")    // DC
	b.Write(make([]byte, (side/8)*(side/8)/8+1)) // one bit for each block
	for range scans {
		segment(0xda, "\x01\x01\x00\x01\x3f\x00") // AC
		b.Write(make([]byte, 2*((side/8)*(side/8)>>14+1)))
	}
	b.WriteString("\xff\xd9")
	return b.Bytes()
}

// A JPEG file with very many scans is not decoded: a megabyte of them could take minutes.
func TestPicturesWithManyScansAreNotDecoded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		scans int
		want  error
	}{{20, nil}, {maxScans - 1, nil}, {maxScans, errUndecodable}, {20_000, errUndecodable}} {
		picture := progressive(1024, c.scans)
		out, err := scaled(bytes.NewReader(picture), 320)
		if !errors.Is(err, c.want) || c.want == nil && len(out) == 0 {
			t.Errorf("%d scans in %d bytes: got %d bytes and error %v, want %v", c.scans+1, len(picture), len(out), err, c.want)
		}
		if out, err := fit(bytes.NewReader(picture), board.AsAvatar); !errors.Is(err, c.want) || c.want == nil && len(out) == 0 {
			t.Errorf("%d scans for a picture of a person: got %d bytes and error %v, want %v", c.scans+1, len(out), err, c.want)
		}
	}
}

// An error of the storage is not an error of the picture.
func TestStorageFailsWhileAPictureIsDecoded(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	content := &failing{bytes.NewReader(progressive(1024, 20)), 9000, broken}
	if _, err := scaled(content, 320); !errors.Is(err, broken) {
		t.Errorf("got error %v, want that of the storage", err)
	}
}

// failing fails after n bytes since the last Seek to the start.
type failing struct {
	*bytes.Reader
	n   int
	err error
}

func (f *failing) Read(p []byte) (int, error) {
	if at := int(f.Size()) - f.Len(); at+len(p) > f.n && len(p) < maxHeader {
		return 0, f.err
	}
	return f.Reader.Read(p)
}
