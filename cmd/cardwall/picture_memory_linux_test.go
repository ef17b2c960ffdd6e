package main

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/jpeg"
	"io"
	"strings"
	"sync"
	"testing"

	"cardwall/perf/fleet"
	perf "cardwall/perf/process"
)

// maxPictureMemory is how much pictures may add to the memory of the server, in bytes.
const maxPictureMemory = 128 << 20

// largePNG returns a PNG of one color with a color type of the format: 3 for a palette, or 6 for
// colors with transparency.
func largePNG(t *testing.T, side, colorType, bytesPerPixel int) []byte {
	t.Helper()
	var out bytes.Buffer
	out.WriteString("\x89PNG\r\n\x1a\n")
	chunk := func(kind string, content []byte) {
		out.Write(binary.BigEndian.AppendUint32(nil, uint32(len(content))))
		text := append([]byte(kind), content...)
		out.Write(text)
		out.Write(binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(text)))
	}
	header := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, uint32(side)), uint32(side))
	chunk("IHDR", append(header, 8, byte(colorType), 0, 0, 0))
	chunk("PLTE", []byte{1, 2, 3})
	var rows bytes.Buffer
	z := zlib.NewWriter(&rows)
	row := make([]byte, 1+side*bytesPerPixel)
	for range side {
		if _, err := z.Write(row); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	chunk("IDAT", rows.Bytes())
	chunk("IEND", nil)
	return out.Bytes()
}

// Pictures that are expensive to decode, many at a time and in each size, add at most
// maxPictureMemory to the memory of the server.
func TestMemoryOfPictures(t *testing.T) {
	t.Parallel()
	var photo bytes.Buffer
	if err := jpeg.Encode(&photo, image.NewYCbCr(image.Rect(0, 0, 6000, 6000), image.YCbCrSubsampleRatio444), nil); err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{
		"transparent.png": largePNG(t, 5000, 6, 4),
		"also.png":        largePNG(t, 4999, 6, 4),
		"bomb.png":        largePNG(t, 20_000, 3, 1),
		"photo.jpg":       photo.Bytes(),
		"truncated.jpg":   photo.Bytes()[:photo.Len()/2],
	}
	c := newCrashServer(t)
	c.client.HTTP.Timeout = 0 // pictures are scaled one after the other
	defer c.start()()
	addr := strings.TrimPrefix(c.base, "http://")
	card := c.mustSend("POST", "/cards", "", map[string]any{"listId": c.list, "title": "Pictures"})
	var ids []string
	for name, content := range files {
		file := fleet.File{Card: card, Name: name, Content: bytes.NewReader(content), Size: int64(len(content))}
		id, err := c.client.Attach(t.Context(), addr, file)
		if err != nil {
			t.Fatalf("attach %s: %v", name, err)
		}
		ids = append(ids, id)
	}
	view := func(id, size string) error {
		res, err := c.client.Open(t.Context(), "GET", c.base+"/api/public/v1/attachments/"+id+"/content?size="+size, nil, nil, 0)
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, res.Body)
		return errors.Join(err, res.Body.Close())
	}
	before := residentMemory(t, c.pid, "RssAnon")
	peak, err := perf.PeakMemory(c.pid, func() error {
		var running sync.WaitGroup
		errs := make(chan error, 3*len(ids))
		for _, id := range ids {
			for _, size := range []string{"small", "large"} {
				running.Go(func() { errs <- view(id, size) })
			}
		}
		running.Wait()
		close(errs)
		var all []error
		for err := range errs {
			all = append(all, err)
		}
		return errors.Join(all...)
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d MB before, %d MB at the peak", before>>20, peak>>20)
	if peak-before > maxPictureMemory {
		t.Errorf("the pictures added %d MB, want at most %d MB", (peak-before)>>20, maxPictureMemory>>20)
	}
}
