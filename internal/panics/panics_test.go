package panics_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace/internal/panics"
)

var errInjected = errors.New("injected")

func TestProtect(t *testing.T) {
	t.Parallel()
	if err := panics.Protect(func() error { return errInjected }); err != errInjected {
		t.Errorf("an error came as %v", err)
	}
	if err := panics.Protect(func() error { return nil }); err != nil {
		t.Errorf("nil came as %v", err)
	}
	for _, value := range []any{"text", errInjected} {
		err := panics.Protect(func() error { panicWith(value); return nil })
		var p *panics.Error
		if !errors.As(err, &p) || !strings.Contains(string(p.Stack), "panicWith") {
			t.Fatalf("panic(%v) came as %v", value, err)
		}
		if diff := cmp.Diff(value, p.Value, cmp.Comparer(func(a, b error) bool { return a == b })); diff != "" {
			t.Error(diff)
		}
		if errors.Is(err, errInjected) != (value == errInjected) || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("panic(%v) matches a wrong error, or does not match the right one", value)
		}
	}
}

func panicWith(value any) { panic(value) }
