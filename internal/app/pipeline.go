package app

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// pipeline calls read, which submits functions. Another goroutine runs these functions in
// order, so that a report can count some records while it reads more. pipeline returns
// when all submitted functions have finished. After a function returns an error or panics,
// pipeline skips the remaining functions. It returns the panic as an error.
func pipeline(read func(submit func(func() error)) error) error {
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

// guarded calls do and returns a panic as an error. Otherwise a panic in the
// goroutine would end the process.
func guarded(do func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	return do()
}
