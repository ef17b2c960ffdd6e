package app

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestPipelineRunsInOrderAndWaits(t *testing.T) {
	var got []int
	err := pipeline(func(submit func(func() error)) error {
		for i := range 5000 {
			submit(func() error { got = append(got, i); return nil })
		}
		return nil
	})
	if err != nil || len(got) != 5000 || !slices.IsSorted(got) {
		t.Errorf("%d of 5000 functions ran, in order: %t, error: %v", len(got), slices.IsSorted(got), err)
	}
}

func TestPipelineReturnsEveryError(t *testing.T) {
	reading, counting := errors.New("reading"), errors.New("counting")
	ran := 0
	err := pipeline(func(submit func(func() error)) error {
		submit(func() error { return counting })
		for range 5000 { // more than the queue holds
			submit(func() error { ran++; return nil })
		}
		return reading
	})
	if !errors.Is(err, reading) || !errors.Is(err, counting) || ran > 0 {
		t.Errorf("got error %v, and %d functions ran after the failure", err, ran)
	}
	err = pipeline(func(submit func(func() error)) error {
		submit(func() error { panic("out of range") })
		return nil
	})
	if err == nil || !strings.Contains(err.Error(), "out of range") {
		t.Errorf("after a panic: got error %v", err)
	}
}
