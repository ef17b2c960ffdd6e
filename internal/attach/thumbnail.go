package attach

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"runtime/debug"

	"golang.org/x/image/draw"
	"golang.org/x/image/math/f64"

	"cardwall/internal/board"
	"cardwall/internal/file"
)

const (
	// thumbnails is the prefix of the names of scaled pictures.
	thumbnails = "thumbs/"
	// maxPixels is the maximum number of pixels of a picture that is decoded.
	maxPixels = 50_000_000
	// maxMemory is the maximum memory in bytes for decoding and scaling a picture.
	maxMemory = 120_000_000
	// muchMemory is the number of bytes above which the memory for scaling a picture is returned
	// to the system at once, so that the next picture does not need more memory in addition.
	muchMemory = 16_000_000
	// maxScans is the maximum number of scans of a JPEG file that is decoded. Each scan can take
	// as long as the whole picture, even if it consists of a few bytes. Cameras and
	// programs write at most about 20.
	maxScans = 100
	// quality is the JPEG quality of scaled pictures.
	quality = 82
)

// sides returns the maximum width and height of a scaled picture in pixels.
func sides() map[board.PictureSize]int {
	return map[board.PictureSize]int{board.PictureSmall: 320, board.PictureMedium: 800, board.PictureLarge: 1600}
}

func thumbnailName(b board.Blob, size board.PictureSize) string {
	return thumbnails + b.OrganizationID + "/" + b.Hash + "/" + string(size)
}

// openScaled opens a picture at a size. If there is no stored result yet, it scales the
// picture and stores the result. openScaled returns errUnscaled if the picture is not
// larger than the size, cannot be decoded, or exceeds maxPixels or maxMemory.
func (f *Files) openScaled(ctx context.Context, b board.Blob, size board.PictureSize) (io.ReadSeekCloser, error) {
	name := thumbnailName(b, size)
	content, err := f.Blobs.Open(ctx, name)
	if !errors.Is(err, file.ErrMissing) {
		return content, err
	}
	if err := f.scale(ctx, b, name, sides()[size]); err != nil {
		return nil, err
	}
	return f.Blobs.Open(ctx, name)
}

var (
	// errUnscaled means that a picture is sent as it is.
	errUnscaled = errors.New("the picture is not scaled")
	// errUndecodable means that the content of a picture is malformed, or too expensive to decode.
	errUndecodable = errors.New("the picture cannot be decoded")
)

// scale stores a scaled copy of a picture under a name. The copy is empty if the picture
// cannot be decoded, so that this is not tried again. Only one picture is scaled at a time,
// to limit the memory.
func (f *Files) scale(ctx context.Context, b board.Blob, name string, side int) error {
	f.scaling.Lock()
	defer f.scaling.Unlock()
	if done, err := f.Blobs.Open(ctx, name); err == nil { // another request has scaled it in the meantime
		return done.Close()
	}
	content, err := f.Blobs.Open(ctx, blobName(b))
	if err != nil {
		return err
	}
	scaled, err := scaled(content, side)
	if errors.Is(err, errUndecodable) {
		err = nil
	}
	if err := errors.Join(err, content.Close()); err != nil {
		return err
	}
	_, err = f.Blobs.Put(ctx, name, bytes.NewReader(scaled))
	return err
}

// scaled scales a picture so that its longer side has side pixels, and turns it upright. It
// returns a file without metadata: a PNG if the picture has transparent parts, and otherwise
// a JPEG.
func scaled(content io.ReadSeeker, side int) ([]byte, error) {
	return withoutPanic(func() ([]byte, error) {
		s, err := readShape(content)
		if err != nil {
			return nil, err
		}
		if max(s.width, s.height) <= side || !s.affordable(side) {
			return nil, errUnscaled
		}
		defer s.free(side)
		picture, err := decode(content, s)
		if err != nil {
			return nil, err
		}
		return encode(turn(halve(picture, side), side, s.orientation))
	})
}

// withoutPanic calls fn. It returns errUndecodable if a decoder panics on a malformed file.
func withoutPanic(fn func() ([]byte, error)) (out []byte, err error) {
	defer func() {
		if recover() != nil {
			out, err = nil, errUndecodable
		}
	}()
	return fn()
}

// decode decodes a picture of an affordable shape. It returns errUndecodable if the file is
// malformed.
func decode(content io.Reader, s shape) (image.Image, error) {
	source := &pictureReader{r: content, jpeg: s.jpeg}
	picture, _, err := image.Decode(source)
	if source.err != nil {
		return nil, source.err
	}
	if err != nil || picture.Bounds().Empty() {
		return nil, errUndecodable
	}
	return picture, nil
}

// encode returns the picture as a PNG file if it has transparent parts, and otherwise as a
// JPEG file.
func encode(picture image.Image) ([]byte, error) {
	var (
		b   bytes.Buffer
		err error
	)
	if opaque, ok := picture.(interface{ Opaque() bool }); ok && opaque.Opaque() {
		err = jpeg.Encode(&b, picture, &jpeg.Options{Quality: quality})
	} else {
		err = png.Encode(&b, picture)
	}
	if err != nil {
		return nil, fmt.Errorf("encode a picture: %w", err)
	}
	return b.Bytes(), nil
}

// pictureReader reads a picture for a decoder. It remembers the first error of r, which means
// that the storage has failed. It refuses a JPEG file with more than maxScans scans.
type pictureReader struct {
	r     io.Reader
	err   error
	jpeg  bool
	scans int
	last  byte // the last byte read
}

func (p *pictureReader) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	if err != nil && err != io.EOF {
		p.err = fmt.Errorf("read a picture: %w", err)
	}
	if !p.jpeg {
		return n, err
	}
	const prefix, startOfScan = 0xff, 0xda // in the data of a scan, the prefix is followed by another byte
	for _, c := range b[:n] {
		if p.last == prefix && c == startOfScan {
			p.scans++
		}
		p.last = c
	}
	if p.scans > maxScans {
		return 0, errUndecodable
	}
	return n, err
}

// shape describes a stored picture.
type shape struct {
	jpeg          bool
	width, height int
	orientation   int // as in EXIF: 1 for upright, 2 to 8 for mirrored or turned
	perPixel      float64
}

// memory returns the memory in bytes for decoding a picture and scaling it to a side.
func (s shape) memory(side int) float64 {
	pixels := float64(s.width) * float64(s.height)
	const perScaled = 4 // bytes for each pixel of a halved or scaled picture
	halved := pixels / float64(int(1)<<(2*halvings(s.width, s.height, side)))
	return pixels*s.perPixel + halved*perScaled + float64(side*side)*perScaled
}

// free returns the memory for scaling a picture to the system at once if it is more than muchMemory.
func (s shape) free(side int) {
	if s.memory(side) > muchMemory {
		debug.FreeOSMemory()
	}
}

// affordable reports whether a picture can be decoded and scaled to a side within the limits.
func (s shape) affordable(side int) bool {
	return float64(s.width)*float64(s.height) <= maxPixels && s.memory(side) <= maxMemory
}

// readShape reads the shape of a picture and rewinds content.
func readShape(content io.ReadSeeker) (shape, error) {
	head := make([]byte, maxHeader)
	n, err := io.ReadFull(content, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return shape{}, fmt.Errorf("read a picture: %w", err)
	}
	if _, err := content.Seek(0, io.SeekStart); err != nil {
		return shape{}, fmt.Errorf("read a picture: %w", err)
	}
	return shapeOf(head[:n])
}

// shapeOf returns the shape of the picture that begins with head. It returns errUnscaled if
// head is not the start of a picture.
func shapeOf(head []byte) (s shape, err error) {
	config, format, err := image.DecodeConfig(bytes.NewReader(head))
	if err != nil || config.Width <= 0 || config.Height <= 0 {
		return s, errUnscaled
	}
	s = shape{width: config.Width, height: config.Height, orientation: 1, perPixel: perPixel(config.ColorModel)}
	switch format {
	case "jpeg":
		s.jpeg = true
		frame := frameOf(head)
		s.orientation, s.perPixel = frame.orientation, frame.memory
	case "png":
		if len(head) > 28 && head[28] != 0 { // interlaced
			s.perPixel *= 2
		}
	case "webp":
		s.perPixel += 4
	}
	return s, nil
}

// perPixel returns the memory of a decoded pixel in bytes.
func perPixel(m color.Model) float64 {
	switch m {
	case color.Gray16Model, color.RGBA64Model, color.NRGBA64Model:
		return 8
	}
	if _, ok := m.(color.Palette); ok {
		return 1
	}
	return 4
}

// jpegFrame is what the header of a JPEG file says about its only frame.
type jpegFrame struct {
	orientation int     // as in EXIF
	memory      float64 // for decoding a pixel, in bytes
}

// frameOf reads the header of a JPEG file up to its frame header (ITU-T T.81, B.1.1 and
// B.2.2). Like the decoder, it skips markers without a segment and bytes between segments.
func frameOf(head []byte) jpegFrame {
	f := jpegFrame{orientation: 1, memory: maxMemory} // a file without a frame header is not decoded
	converted := false
	for i := 2; i+4 <= len(head); {
		if head[i] != 0xff {
			i++
			continue
		}
		marker := head[i+1]
		if marker == 0xff || marker == 0 || marker == 1 || marker >= 0xd0 && marker <= 0xd8 {
			i += 1 + min(1, int(0xff-marker)) // fill bytes can precede a marker
			continue
		}
		size := int(head[i+2])<<8 + int(head[i+3])
		segment := head[i+4 : min(len(head), max(i+4, i+2+size))]
		switch {
		case marker == 0xe1 && f.orientation == 1:
			f.orientation = orientationOf(segment)
		case marker == 0xee && len(segment) >= 12 && bytes.HasPrefix(segment, []byte("Adobe")):
			converted = segment[11] == 0
		case marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc:
			f.memory = frameMemory(segment, marker == 0xc2, converted)
			return f
		case marker == 0xda || marker == 0xd9:
			return f
		}
		i += 2 + size
	}
	return f
}

// frameMemory returns the memory for decoding a pixel of a frame in bytes. It depends on the
// subsampling of the components. A decoder of a progressive frame also keeps a coefficient
// of four bytes for each sample. If converted is true, the colors may be RGB or CMYK, which
// the decoder converts.
func frameMemory(segment []byte, progressive, converted bool) float64 {
	const components = 6 // offset of the descriptions of the components, of three bytes each
	if len(segment) < components || len(segment) < components+3*int(segment[5]) {
		return maxMemory
	}
	area, largestH, largestV := 0.0, 1.0, 1.0
	var ids []byte
	for n := range int(segment[5]) {
		ids = append(ids, segment[components+3*n])
		h, v := float64(segment[components+3*n+1]>>4), float64(segment[components+3*n+1]&15)
		area += h * v
		largestH, largestV = max(largestH, h), max(largestV, v)
	}
	samples := area / (largestH * largestV)
	memory := samples
	if progressive {
		memory += 4 * samples
	}
	if converted || len(ids) == 4 || string(ids) == "RGB" {
		memory += 4
	}
	return memory
}

// orientationOf returns the orientation in an EXIF segment of a JPEG file, or 1 if it has
// none. It reads only the first directory of the TIFF structure (CIPA DC-008, 4.6.2).
func orientationOf(segment []byte) int {
	tiff, ok := bytes.CutPrefix(segment, []byte("Exif\x00\x00"))
	if !ok || len(tiff) < 8 {
		return 1
	}
	var order binary.ByteOrder
	switch string(tiff[:2]) {
	case "II":
		order = binary.LittleEndian
	case "MM":
		order = binary.BigEndian
	default:
		return 1
	}
	const entrySize, orientationTag, short = 12, 0x0112, 3
	at := int64(order.Uint32(tiff[4:]))
	if at+2 > int64(len(tiff)) {
		return 1
	}
	directory := tiff[at+2:]
	for range order.Uint16(tiff[at:]) {
		if len(directory) < entrySize {
			return 1
		}
		if order.Uint16(directory) == orientationTag && order.Uint16(directory[2:]) == short {
			if n := int(order.Uint16(directory[8:])); n >= 1 && n <= 8 {
				return n
			}
			return 1
		}
		directory = directory[entrySize:]
	}
	return 1
}

// halvings returns how often a picture is halved before it is scaled to a side: until its
// longer side is less than twice as long.
func halvings(width, height, side int) (n int) {
	for max(width, height)>>n >= 2*side {
		n++
	}
	return n
}

// halve halves a picture repeatedly, until one more step would make its longer side shorter than
// side. At half size, the bilinear scaler averages squares of four pixels. halve works in strips,
// which share their memory.
func halve(p image.Image, side int) image.Image {
	all := p.Bounds()
	n := halvings(all.Dx(), all.Dy(), side)
	if n == 0 {
		return p
	}
	const rows = 16 // of the result, in a strip
	strips := make([]*image.RGBA, n-1)
	for i := range strips {
		strips[i] = image.NewRGBA(image.Rect(0, 0, max(1, all.Dx()>>(i+1)), (rows+1)<<(n-1-i)))
	}
	out := image.NewRGBA(image.Rect(0, 0, max(1, all.Dx()>>n), max(1, all.Dy()>>n)))
	for y := 0; y < out.Rect.Max.Y; y += rows {
		to := image.Rect(0, y, out.Rect.Max.X, min(y+rows, out.Rect.Max.Y))
		from, area := p, image.Rect(all.Min.X, all.Min.Y+y<<n, all.Max.X, all.Min.Y+to.Max.Y<<n)
		if to.Max.Y == out.Rect.Max.Y { // the last strip
			area.Max.Y = all.Max.Y
		}
		for _, strip := range strips {
			half := image.Rect(0, 0, max(1, area.Dx()/2), max(1, area.Dy()/2))
			draw.ApproxBiLinear.Scale(strip, half, from, area, draw.Src, nil)
			from, area = strip, half
		}
		draw.ApproxBiLinear.Scale(out, to, from, area, draw.Src, nil)
	}
	return out
}

// turn scales a picture so that its longer side is at most the given side, and turns it
// upright according to its EXIF orientation.
func turn(p image.Image, side, orientation int) image.Image {
	w, h := float64(p.Bounds().Dx()), float64(p.Bounds().Dy())
	k := min(1, float64(side)/max(w, h))
	x, y := w*k, h*k // the size of the scaled picture before it is turned
	m := map[int]f64.Aff3{
		1: {k, 0, 0, 0, k, 0},
		2: {-k, 0, x, 0, k, 0},
		3: {-k, 0, x, 0, -k, y},
		4: {k, 0, 0, 0, -k, y},
		5: {0, k, 0, k, 0, 0},
		6: {0, -k, y, k, 0, 0},
		7: {0, -k, y, -k, 0, x},
		8: {0, k, 0, -k, 0, x},
	}[orientation]
	if orientation >= 5 {
		x, y = y, x
	}
	out := image.NewRGBA(image.Rect(0, 0, max(1, int(x+0.5)), max(1, int(y+0.5))))
	origin := p.Bounds().Min
	m[2] -= m[0]*float64(origin.X) + m[1]*float64(origin.Y)
	m[5] -= m[3]*float64(origin.X) + m[4]*float64(origin.Y)
	draw.BiLinear.Transform(out, m, p, p.Bounds(), draw.Src, nil)
	return out
}
