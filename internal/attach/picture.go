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

// Picture makes a picture for a use from the content that r returns until io.EOF. The picture
// is upright, has no metadata, and fits the limits of the use. Picture returns an
// invalid_request error if the content is not a picture, is larger than
// board.MaxPictureUpload, or has too many pixels. If r returns an error, Picture returns it.
// The content is stored only until Picture returns.
func (f *Files) Picture(ctx context.Context, caller board.Caller, use board.PictureUse, r io.Reader) (p board.Picture, err error) {
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
	p, err = f.fit(content, use)
	return p, errors.Join(storageFault(err), content.Close())
}

// fit makes a picture for a use from a file.
func (f *Files) fit(content io.ReadSeeker, use board.PictureUse) (p board.Picture, err error) {
	f.scaling.Lock() // see scale
	defer f.scaling.Unlock()
	p.Content, err = withoutPanic(func() ([]byte, error) { return fit(content, use) })
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

func fit(content io.ReadSeeker, use board.PictureUse) ([]byte, error) {
	s, err := readShape(content)
	if err != nil {
		return nil, err
	}
	if !s.affordable(use.Side) {
		return nil, board.Invalid("The picture has too many pixels. Use a smaller version of it.")
	}
	defer s.free(use.Side)
	picture, err := decode(content, s)
	if err != nil {
		return nil, err
	}
	if use.Square {
		picture = middle(picture)
	}
	size := picture.Bounds()
	for side := min(use.Side, max(size.Dx(), size.Dy())); ; side = side * 3 / 4 {
		out, err := encode(turn(halve(picture, side), side, s.orientation))
		if err != nil || len(out) <= int(use.Most) {
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
