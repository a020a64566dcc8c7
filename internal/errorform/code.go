package errorform

import (
	"context"
	"errors"
)

// coder is an error with a code: a stable word for programs.
type coder interface{ Code() string }

// Code returns the code of an error: the first code that [Given] finds, "canceled" for an error of a context without a
// code, and "" for nil and any other error.
func Code(err error) string {
	if code := Given(err); code != "" {
		return code
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return Canceled
	}
	return ""
}

// Given returns the first code in the tree of an error, starting with the error itself, "" if none has a code. An error
// with an empty code counts as an error without a code.
func Given(err error) string {
	for err != nil {
		if coded, ok := err.(coder); ok {
			if code := coded.Code(); code != "" {
				return code
			}
		}
		switch of := err.(type) {
		case interface{ Unwrap() error }:
			err = of.Unwrap()
		case interface{ Unwrap() []error }:
			for _, one := range of.Unwrap() {
				if code := Given(one); code != "" {
					return code
				}
			}
			return ""
		default:
			return ""
		}
	}
	return ""
}

// UnlessCanceled returns code, or [Canceled] if the cause is the end of a context.
func UnlessCanceled(cause error, code string) string {
	if Code(cause) == Canceled {
		return Canceled
	}
	return code
}

// New returns an error with a code and a text. Each call returns a distinct error, like errors.New.
func New(code, text string) error { return &coded{code, text} }

type coded struct{ code, text string }

func (e *coded) Error() string { return e.text }
func (e *coded) Code() string  { return e.code }
