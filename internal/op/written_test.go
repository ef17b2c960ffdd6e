package op_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"cardwall/internal/op"
)

// The response is the same whether or not its records are encoded in advance.
func TestWritten(t *testing.T) {
	t.Parallel()
	type record struct {
		Title string   `json:"title"`
		Marks []string `json:"marks"`
		Due   *string  `json:"due"`
	}
	records := []record{{Title: "<Ünïcode> \"quoted\"\n"}, {Marks: []string{strings.Repeat("long ", 20_000)}}, {}}
	for i := range 1000 { // more than one buffer can hold
		records = append(records, record{Title: strings.Repeat("x", i)})
	}
	var (
		written []op.Written[record]
		writer  = op.Writer[record]{Append: func(b []byte, r *record) ([]byte, error) {
			text, err := json.Marshal(r)
			return append(b, text...), err
		}}
	)
	for i := range records {
		w, err := writer.Write(&records[i])
		if err != nil {
			t.Fatal(err)
		}
		written = append(written, w)
	}
	want, err := json.Marshal(records)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := json.Marshal(written); err != nil || string(got) != string(want) {
		t.Errorf("json.Marshal: got %.200s, error %v; want %.200s", got, err, want)
	}
	if got := op.AppendArray(nil, written); string(got) != string(want) {
		t.Errorf("AppendArray: got %.200s, want %.200s", got, want)
	}
}
