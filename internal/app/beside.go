package app

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// beside runs read, and beside it in their order the functions that read hands
// to then: a report counts what it has read while it reads on. All of them have
// ended when it returns. Those behind the first that fails are left out; a
// panic in one is a failure too.
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

// guarded runs do; nobody else would recover a panic in a goroutine of ours.
func guarded(do func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	return do()
}
