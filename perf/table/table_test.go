package table

import "testing"

func TestFormat(t *testing.T) {
	lines := [][]string{{"name", "ms"}, {"a", "1.5"}, {"bç", "20"}}
	text := func(column int) bool { return column == 0 }
	for _, c := range []struct {
		markdown bool
		want     string
	}{
		{false, "name   ms\n----  ---\na     1.5\nbç     20\n"},
		{true, "| name |  ms |\n| ---- | --: |\n| a    | 1.5 |\n| bç   |  20 |\n"},
	} {
		if got := Format(lines, text, c.markdown); got != c.want {
			t.Errorf("markdown %v: got\n%swant\n%s", c.markdown, got, c.want)
		}
	}
}
