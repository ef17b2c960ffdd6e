package attach

import (
	"slices"
	"testing"
	"time"
)

// A long copy reports its progress once in a while, not after each part of a file.
func TestCopyReportsProgress(t *testing.T) {
	t.Parallel()
	var got []string
	c := &copier{
		CopyOptions: CopyOptions{Count: 5, Size: 3_000_000, Progress: func(message string) { got = append(got, message) }},
		done:        Copied{Blobs: 1, Present: 1}, last: time.Now().Add(-progressInterval),
	}
	for range 3 {
		c.processed(500_000)
	}
	c.last = time.Now().Add(-progressInterval)
	c.processed(500_000)
	want := []string{"copying files: 2 of 5, 500 kB of 3 MB", "copying files: 2 of 5, 2 MB of 3 MB"}
	if !slices.Equal(got, want) {
		t.Errorf("got the messages %q, want %q", got, want)
	}
}
