package decode_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/suite"
)

func TestWithName(t *testing.T) {
	t.Parallel()
	p := suite.Edit("a.txt")
	named, err := p.WithName("ein Name")
	if err != nil || named.Name() != "ein Name" || p.Name() == "ein Name" {
		t.Fatalf("%q %v, and the first has %q", named.Name(), err, p.Name())
	}
	if back, err := named.WithName(p.Name()); err != nil || !back.Equal(p) {
		t.Errorf("more than the name has changed: %v", err)
	}
	for _, name := range []string{"", " ", "\xff", strings.Repeat("a", 255+1)} {
		_, err := p.WithName(name)
		if _, ok := errors.AsType[*millrace.ValidationError](err); !ok {
			t.Errorf("%.9q: %v", name, err)
		}
	}
}
