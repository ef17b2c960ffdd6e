package main

import "testing"

func TestVersionOf(t *testing.T) {
	if v, err := versionOf([]byte(`{"data":{"a":1,"boardVersion":3},"boardVersion":42}` + "\n")); v != 42 || err != nil {
		t.Errorf("got version %d, error %v; want 42", v, err)
	}
	for _, bad := range []string{"", "{}", `{"data":{},"boardVersion":0}`, `{"data":1,"other":2}`} {
		if v, err := versionOf([]byte(bad)); err == nil {
			t.Errorf("versionOf(%q) = %d, want an error", bad, v)
		}
	}
}
