// Package panics turns a panic in a callback into an error.
package panics

import (
	"fmt"
	"runtime/debug"

	"github.com/millrace-go/millrace/internal/errorform"
)

// Error is a panic in a callback, turned into an error.
type Error struct {
	Value any    // the value of the panic
	Stack []byte // the stack, as from debug.Stack
}

// Error returns the value of the panic, without the stack.
func (e *Error) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// MarshalJSON gives the code, the message and the paths.
func (e *Error) MarshalJSON() ([]byte, error) { return errorform.Marshal("internal", e) }

// Unwrap returns the value of the panic if it is an error.
func (e *Error) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// Apart calls fn on a separate goroutine and waits for it. It returns the result of [Protect], or ended if fn ends the
// goroutine, as t.FailNow does in a test.
func Apart(ended error, fn func() error) error {
	err := ended
	done := make(chan struct{})
	go func() {
		defer close(done)
		err = Protect(fn)
	}()
	<-done
	return err
}

// Protect calls fn and returns its error, or an *[Error] if it panics.
func Protect(fn func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &Error{Value: v, Stack: debug.Stack()}
		}
	}()
	return fn()
}
