package job

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"io"

	"cardwall/internal/store"
)

// pack compresses a part and prepends the number of its records.
func pack(p store.Part) ([]byte, error) {
	out := bytes.NewBuffer(binary.BigEndian.AppendUint32(nil, uint32(p.Records)))
	w, err := gzip.NewWriterLevel(out, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	_, err = w.Write(p.Body)
	if err = errors.Join(err, w.Close()); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func unpack(packed []byte) (p store.Part, err error) {
	if len(packed) < 4 {
		return p, errors.New("the part is too short")
	}
	p.Records = int(binary.BigEndian.Uint32(packed))
	r, err := gzip.NewReader(bytes.NewReader(packed[4:]))
	if err != nil {
		return p, err
	}
	p.Body, err = io.ReadAll(r)
	return p, err
}
