package op

import (
	"context"
	"io"
	"net/http"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// Contents registers an operation that returns the content of a file instead of an
// envelope. Fn authorizes the caller. The interface reads the file after the transaction.
func Contents[I any](r *Registry, name, route, text string, fn func(context.Context, *store.View, I) (board.Content, error),
	options ...Option) {
	o := register[I, Document](r, name, route, text, board.ScopeRead, options)
	o.ReadOnly, o.NoTool = true, true
	o.Media = "*/*" // that of the file
	o.content = func(ctx context.Context, v *store.View, in any) (board.Content, error) { return fn(ctx, v, *in.(*I)) }
}

// HasContent reports whether the operation returns the content of a file.
func (o *Operation) HasContent() bool { return o.content != nil }

// Content runs one call of an operation that returns the content of a file.
func (e *Engine) Content(ctx context.Context, c Call) (board.Content, error) {
	return e.watchedContent(ctx, c, e.prepare)
}

// ContentAgain is like Content, but does not run the part of the operation that precedes the
// transaction. It checks whether the caller may still read a file that is being sent.
func (e *Engine) ContentAgain(ctx context.Context, c Call) error {
	_, err := e.watchedContent(ctx, c, func(context.Context, Call, any) error { return nil })
	return err
}

// step is a part of a call that precedes the transaction. It gets the decoded input.
type step func(ctx context.Context, c Call, in any) error

func (e *Engine) watchedContent(ctx context.Context, c Call, prepare step) (content board.Content, err error) {
	e.watched(ctx, c, func(ctx context.Context) (bool, error) {
		content, err = e.readContent(ctx, c, prepare)
		return false, err
	})
	return content, err
}

func (e *Engine) readContent(ctx context.Context, c Call, prepare step) (content board.Content, err error) {
	if err := e.permit(ctx, c); err != nil {
		return content, err
	}
	in, err := c.Operation.Input.decode(c.Arguments)
	if err != nil {
		return content, err
	}
	c.asGuest(in)
	if err := prepare(ctx, c, in); err != nil {
		return content, err
	}
	began, err := e.admission.enter(ctx, classOf(c.Operation))
	if err != nil {
		return content, err
	}
	defer e.admission.leave(classOf(c.Operation), began)
	err = e.db.Read(ctx, c.Caller, func(v *store.View) (err error) {
		content, err = c.Operation.content(ctx, v, in)
		return err
	})
	return content, err
}

// PartMedia is the media type of a part of a file (tus 1.0, core protocol).
const PartMedia = "application/offset+octet-stream"

// Parts registers a command whose request contains a part of a file. The interface stores the
// parts with FileStore.Append, and calls fn when the file is complete.
func Parts[I, O any](r *Registry, name, route, text string, fn func(context.Context, *store.Tx, I) (O, error), options ...Option) {
	Command(r, name, route, text, fn, append(options, NoTool, Unkeyed, Media(PartMedia))...)
}

// TakesPart reports whether a request contains a part of a file.
func (o *Operation) TakesPart() bool { return o.Media == PartMedia }

// PictureMedia are the media types of pictures.
const PictureMedia = "image/*"

// TakesPicture registers a command whose request is a picture for a use. The interface makes
// the picture with FileStore.Picture, and passes it to the input.
func TakesPicture[I, O any](r *Registry, name, route string, use board.PictureUse, text string,
	fn func(context.Context, *store.Tx, I) (O, error), options ...Option) {
	as := option(func(o *Operation) { o.Picture = use })
	Command(r, name, route, text, fn, append(options, NoTool, Unkeyed, Media(PictureMedia), as)...)
}

// TakesPicture reports whether a request is a picture.
func (o *Operation) TakesPicture() bool { return o.Media == PictureMedia }

// pictureTaker is implemented by inputs of operations whose requests are a picture.
type pictureTaker interface{ TakePicture(p *board.Picture) }

// FileStore stores the files in requests, and opens them again.
type FileStore interface {
	// Store stores a file for a card. See attach.Files.
	Store(ctx context.Context, caller board.Caller, cardID, name string, r io.Reader) (*board.StoredFile, error)
	// Append stores a part of a file, and calls add with the complete file. See attach.Files.
	Append(ctx context.Context, caller board.Caller, uploadID string, offset int64, r io.Reader,
		add func(*board.StoredFile) error) (board.Upload, error)
	// Picture makes a picture for a use from a file, which it does not store. See attach.Files.
	Picture(ctx context.Context, caller board.Caller, use board.PictureUse, r io.Reader) (board.Picture, error)
	// Open opens the content of a file and returns its media type.
	Open(ctx context.Context, c board.Content) (content io.ReadSeekCloser, mediaType string, err error)
}

// fileTaker is implemented by inputs of operations whose requests may contain a file.
type fileTaker interface{ TakeFile(f *board.StoredFile) }

// TakesFile reports whether a request may contain a file, as multipart/form-data.
func (o *Operation) TakesFile() bool {
	_, ok := o.Input.New().(fileTaker)
	return ok && o.Method == http.MethodPost
}
