package attach

import (
	"bytes"
	"context"
	"errors"
	"image"
	"io"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// Picture makes a picture of a person from the content that r returns until io.EOF. The
// picture is the square in the middle, upright, with at most board.AvatarSide pixels on each
// side and at most board.MaxAvatar bytes. It has no metadata. Picture returns an
// invalid_request error if the content is not a picture, is larger than
// board.MaxPictureUpload, or has too many pixels. If r returns an error, Picture returns it.
// The content is stored only until Picture returns.
func (f *Files) Picture(ctx context.Context, caller board.Caller, r io.Reader) (p board.Picture, err error) {
	leave, err := f.enter(caller.UserID)
	if err != nil {
		return p, err
	}
	defer leave()
	received := temporary + store.NewID("fil_")
	tooLarge := board.Invalid("The picture is larger than %s.", board.MaxPictureUpload)
	tooLarge.Cause = board.CauseTooLarge
	limited := &limitReader{r: r, left: int64(board.MaxPictureUpload), fault: tooLarge}
	if _, err := f.Blobs.Put(ctx, received, limited); err != nil {
		return p, storageFault(err)
	}
	defer func() { // the context may have ended, which must not keep the blob from being removed
		err = errors.Join(err, storageFault(f.Blobs.Remove(context.WithoutCancel(ctx), received)))
	}()
	content, err := f.Blobs.Open(ctx, received)
	if err != nil {
		return p, storageFault(err)
	}
	p, err = f.square(content)
	return p, errors.Join(storageFault(err), content.Close())
}

// square makes a picture of a person from a file.
func (f *Files) square(content io.ReadSeeker) (p board.Picture, err error) {
	f.scaling.Lock() // see scale
	defer f.scaling.Unlock()
	p.Content, err = withoutPanic(func() ([]byte, error) { return square(content) })
	switch {
	case errors.Is(err, errUnscaled):
		return p, board.Invalid("The file is not a picture. Use a JPEG, PNG, GIF or WebP file.")
	case errors.Is(err, errUndecodable):
		return p, board.Invalid("The picture cannot be read. The file may be damaged or incomplete.")
	case err != nil:
		return p, err
	}
	p.MediaType, err = scaledType(bytes.NewReader(p.Content))
	return p, err
}

func square(content io.ReadSeeker) ([]byte, error) {
	s, err := readShape(content)
	if err != nil {
		return nil, err
	}
	if !s.affordable(board.AvatarSide) {
		return nil, board.Invalid("The picture has too many pixels. Use a smaller version of it.")
	}
	defer s.free(board.AvatarSide)
	picture, err := decode(content, s)
	if err != nil {
		return nil, err
	}
	picture = middle(picture)
	// A PNG file of 256 × 256 pixels can be too large. One of 128 × 128 pixels never is.
	for side := board.AvatarSide; ; side /= 2 {
		out, err := encode(turn(halve(picture, side), side, s.orientation))
		if err != nil || len(out) <= int(board.MaxAvatar) {
			return out, err
		}
	}
}

// middle returns the largest square in the middle of a picture.
func middle(p image.Image) image.Image {
	b := p.Bounds()
	side := min(b.Dx(), b.Dy())
	corner := b.Min.Add(image.Pt((b.Dx()-side)/2, (b.Dy()-side)/2))
	// The pictures of all decoders have this method.
	whole := p.(interface {
		SubImage(r image.Rectangle) image.Image
	})
	return whole.SubImage(image.Rectangle{Min: corner, Max: corner.Add(image.Pt(side, side))})
}
