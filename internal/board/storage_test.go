package board_test

import (
	"testing"

	"cardwall/internal/board"
)

func TestBytes(t *testing.T) {
	t.Parallel()
	for n, want := range map[board.Bytes]string{
		0: "0 bytes", 999: "999 bytes", 1000: "1 kB", 249_999_999: "249.9 MB", 250e6: "250 MB", 25e9: "25 GB", 1500e12: "1.5 PB",
	} {
		if got := n.String(); got != want {
			t.Errorf("%d bytes: got %s, want %s", int64(n), got, want)
		}
	}
	for text, want := range map[string]board.Bytes{
		"250MB": 250e6, "25 GB": 25e9, "1.5tb": 1500e9, "7 bytes": 7, " 9kB ": 9000,
		"": 0, "250": 0, "MB": 0, "0MB": 0, "-1MB": 0, "1MiB": 0, "1.2.3MB": 0, "9999999PB": 0,
	} {
		var got board.Bytes
		if err := got.UnmarshalText([]byte(text)); got != want || (err != nil) != (want == 0) {
			t.Errorf("%q: got %d bytes (%v), want %d", text, int64(got), err, int64(want))
		}
	}
	zero := board.Bytes(1)
	if err := zero.UnmarshalText([]byte("0")); err != nil || zero != 0 {
		t.Errorf("0: got %d bytes (%v), want 0", int64(zero), err)
	}
}
