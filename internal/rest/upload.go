package rest

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"cardwall/internal/board"
	"cardwall/internal/op"
)

// The operations under uploadPath also speak tus 1.0 (https://tus.io/protocols/resumable-upload):
// the core protocol and the extensions creation, expiration and termination.
const (
	uploadPath    = "/uploads"
	tusVersion    = "1.0.0"
	tusExtensions = "creation,expiration,termination"
)

// The headers of tus.
const (
	tusResumable = "Tus-Resumable"
	uploadOffset = "Upload-Offset"
	uploadLength = "Upload-Length"
	uploadExpiry = "Upload-Expires"
)

func isUpload(o *op.Operation) bool { return strings.HasPrefix(o.Path, uploadPath) }

// routeUploads adds the routes of tus that are not operations.
func (h *handler) routeUploads() {
	for _, route := range []string{uploadPath, uploadPath + "/{uploadId}"} {
		h.mux.HandleFunc("OPTIONS "+Prefix+route, func(w http.ResponseWriter, _ *http.Request) {
			header := w.Header()
			header.Set(tusResumable, tusVersion)
			header.Set("Tus-Version", tusVersion)
			header.Set("Tus-Extension", tusExtensions)
			w.WriteHeader(http.StatusNoContent)
		})
	}
	// Some networks allow only GET and POST.
	h.mux.HandleFunc("POST "+Prefix+uploadPath+"/{uploadId}", func(w http.ResponseWriter, r *http.Request) {
		switch method := r.Header.Get("X-HTTP-Method-Override"); method {
		case http.MethodHead, http.MethodPatch, http.MethodDelete:
			r.Method = method
			h.mux.ServeHTTP(w, r)
		default:
			h.unknown(w, r)
		}
	})
}

// readTus reads what a tus client sends in headers. It returns true if the body is not JSON. It
// refuses a client that uses another version of tus; other clients need not send the header.
func readTus(w http.ResponseWriter, r *http.Request, call *op.Call) (done bool, err error) {
	w.Header().Set(tusResumable, tusVersion)
	if given := r.Header.Get(tusResumable); given != "" && given != tusVersion {
		w.Header().Set("Tus-Version", tusVersion)
		f := board.Invalid("%s must be %s.", tusResumable, tusVersion)
		f.Cause = board.CausePrecondition
		return false, f
	}
	if !call.Operation.Creates || r.Header.Get(uploadLength) == "" {
		return call.Operation.TakesPart(), nil
	}
	call.Arguments.Body, err = readCreation(r.Header)
	return true, err
}

// readCreation returns the body of create_upload from the headers of a tus client.
func readCreation(header http.Header) (body []byte, err error) {
	size, err := strconv.ParseInt(header.Get(uploadLength), 10, 64)
	if err != nil || size < 1 {
		return nil, board.Invalid("%s must be the size of the file in bytes, at least 1. Send an empty file with add_attachment.", uploadLength)
	}
	metadata := map[string]string{}
	for pair := range strings.SplitSeq(header.Get("Upload-Metadata"), ",") {
		key, encoded, _ := strings.Cut(strings.TrimSpace(pair), " ")
		value, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil {
			return nil, board.Invalid("Upload-Metadata must be a list of keys and values in Base64, separated by commas.")
		}
		metadata[key] = string(value)
	}
	in := map[string]any{"cardId": metadata["cardId"], "size": size}
	if name := cmp.Or(metadata["filename"], metadata["name"]); name != "" {
		in["fileName"] = strings.ToValidUTF8(name, "\uFFFD")
	}
	return json.Marshal(in, json.Deterministic(true))
}

// setUpload sets the headers of a response about an upload.
func setUpload(w http.ResponseWriter, u board.Upload) {
	header := w.Header()
	header.Set(uploadOffset, strconv.FormatInt(u.Offset, 10))
	header.Set(uploadLength, strconv.FormatInt(u.Size, 10))
	header.Set(uploadExpiry, u.ExpiresAt.Time().UTC().Format(http.TimeFormat))
}

// setUploadHeaders sets the headers for the result of an operation on uploads. It returns true
// if it has also written the response, which tus clients expect to be empty.
func setUploadHeaders(w http.ResponseWriter, r *http.Request, o *op.Operation, result op.Response) bool {
	if o.Method == http.MethodDelete {
		if r.Header.Get(tusResumable) != "" {
			w.WriteHeader(http.StatusNoContent)
			return true
		}
		return false
	}
	var body struct {
		Data board.Upload `json:"data"`
	}
	if err := json.Unmarshal(result.Body, &body); err != nil {
		panic(fmt.Sprintf("rest: decode the result of %s: %v", o.Name, err)) // a programming error
	}
	if o.Creates {
		w.Header().Set("Location", Prefix+uploadPath+"/"+body.Data.ID)
	}
	setUpload(w, body.Data)
	return false
}

// appendPart serves an operation that receives a part of a file. If the client disconnects,
// appendPart keeps what has arrived, and a complete file is still attached.
func (h *handler) appendPart(w http.ResponseWriter, r *http.Request, call op.Call) error {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != op.PartMedia {
		return &board.Fault{
			Code: board.CodeInvalidRequest, Cause: board.CauseMediaType, Message: "Content-Type must be " + op.PartMedia + ".",
		}
	}
	offset, err := strconv.ParseInt(r.Header.Get(uploadOffset), 10, 64)
	if err != nil || offset < 0 {
		return board.Invalid("%s must be the number of bytes before this part.", uploadOffset)
	}
	if err := cmp.Or(h.Engine.Permit(r.Context(), call), h.Engine.CheckInput(call)); err != nil {
		return err
	}
	body := h.pace(w, r)
	defer body.end()
	ctx := context.WithoutCancel(r.Context())
	u, err := h.Files.Append(ctx, call.Caller, r.PathValue("uploadId"), offset, body, func(f *board.StoredFile) error {
		ctx, cancel := context.WithTimeout(ctx, h.OpTimeout)
		defer cancel()
		call.File = f
		_, err := h.Engine.Do(ctx, call)
		return err
	})
	if err != nil {
		return receiveFault(err)
	}
	setUpload(w, u)
	w.WriteHeader(http.StatusNoContent)
	return nil
}
