package app

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// beside runs read. The functions that read passes to then run at the same time
// in another goroutine, in their order, so that a report can count some records
// while it reads more. When beside returns, all functions have finished. After
// the first failure the remaining functions are skipped. A panic counts as a
// failure.
func beside(read func(then func(func() error)) error) error {
	todo, done := make(chan func() error, 1024), make(chan error, 1)
	go func() {
		var err error
		for do := range todo {
			if err == nil {
				err = guarded(do)
			}
		}
		done <- err
	}()
	err := func() error {
		defer close(todo)
		return read(func(do func() error) { todo <- do })
	}()
	return errors.Join(err, <-done)
}

// guarded runs do and returns a panic as an error, because a panic in a
// goroutine would end the process.
func guarded(do func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	return do()
}
