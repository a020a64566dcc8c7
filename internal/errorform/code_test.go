package errorform_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/millrace-go/millrace/internal/errorform"
)

func TestCode(t *testing.T) {
	t.Parallel()
	inner, outer, empty := errorform.New("inner", "i"), errorform.New("outer", "o"), errorform.New("", "e")
	plain := errors.New("plain")
	for _, c := range []struct {
		name string
		err  error
		want string
	}{
		{"nil", nil, ""},
		{"an error without a code", plain, ""},
		{"the error itself", outer, "outer"},
		{"a wrapped error", fmt.Errorf("w: %w", inner), "inner"},
		{"the outer of two", fmt.Errorf("w: %w", wrapped{"outer", inner}), "outer"},
		{"an empty code is not a code", wrapped{"", inner}, "inner"},
		{"the first of a list", errors.Join(plain, outer, inner), "outer"},
		{"a list without a code", errors.Join(plain, empty), ""},
		{"a context", fmt.Errorf("w: %w", context.Canceled), "canceled"},
		{"a deadline", context.DeadlineExceeded, "canceled"},
		{"a code wins over a context before it", errors.Join(context.Canceled, inner), "inner"},
	} {
		if got := errorform.Code(c.err); got != c.want {
			t.Errorf("%s: the code is %q, want %q", c.name, got, c.want)
		}
	}
	if got := errorform.Given(context.Canceled); got != "" {
		t.Errorf("an error of a context gives %q, want none", got)
	}
	if a, b := errorform.UnlessCanceled(context.Canceled, "x"), errorform.UnlessCanceled(inner, "x"); a != "canceled" || b != "x" {
		t.Errorf("UnlessCanceled returns %q and %q, want canceled and x", a, b)
	}
	if errors.Is(errorform.New("a", "t"), errorform.New("a", "t")) {
		t.Error("two errors of New are the same")
	}
}

type wrapped struct {
	code string
	err  error
}

func (w wrapped) Error() string { return "wrapped: " + w.err.Error() }
func (w wrapped) Unwrap() error { return w.err }
func (w wrapped) Code() string  { return w.code }
