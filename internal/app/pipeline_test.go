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
		t.Errorf("got %d functions run, in order %t, error %v; want 5000, true, no error", len(got),
			slices.IsSorted(got), err)
	}
}

func TestPipelineReturnsEveryError(t *testing.T) {
	submitErr, functionErr := errors.New("submit"), errors.New("function")
	ran := 0
	err := pipeline(func(submit func(func() error)) error {
		submit(func() error { return functionErr })
		for range 5000 { // more than the queue can hold
			submit(func() error { ran++; return nil })
		}
		return submitErr
	})
	if !errors.Is(err, submitErr) || !errors.Is(err, functionErr) || ran > 0 {
		t.Errorf("got error %v and %d functions run after the failure, want both errors and none", err, ran)
	}
	err = pipeline(func(submit func(func() error)) error {
		submit(func() error { panic("out of range") })
		return nil
	})
	if err == nil || !strings.Contains(err.Error(), "out of range") {
		t.Errorf("after a panic: got error %v, want one with the panic value", err)
	}
}
