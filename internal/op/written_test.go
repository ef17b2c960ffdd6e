package op_test

import (
	"testing"

	"github.com/go-json-experiment/json"

	"cardwall/internal/op"
)

// A record that was written ahead stands in an answer as one that was not, and
// is read as it was.
func TestWritten(t *testing.T) {
	t.Parallel()
	type record struct {
		Title string   `json:"title"`
		Marks []string `json:"marks"`
		Due   *string  `json:"due"`
	}
	one := record{Title: "<Ünïcode> \"quoted\"\n"}
	written, err := op.Write(one)
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal([]op.Written[record]{written})
	if err != nil {
		t.Fatal(err)
	}
	if want, _ := json.Marshal([]record{one}); string(got) != string(want) {
		t.Errorf("answers %s, want %s", got, want)
	}
	var back []op.Written[record]
	if err := json.Unmarshal(got, &back); err != nil || len(back) != 1 || back[0].Value.Title != one.Title {
		t.Errorf("read back as %+v, %v", back, err)
	}
}
