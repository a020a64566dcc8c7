package guard_test

import (
	"errors"
	"testing"

	"github.com/millrace-go/millrace/internal/guard"
	"github.com/millrace-go/millrace/internal/names"
)

func TestGuardValidate(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]bool{
		"": false, ".": false, "/etc": false, "../x": false, "a/../b": false, "[a": false, "{a": false,
		".env": true, "**/*.key": true, "./a/": true, "{a,b}/**": true,
	} {
		for _, g := range []guard.Policy{{Denied: []string{pattern}}, {ReadOnly: []string{"ok", pattern}}} {
			if err := g.Validate(); (err == nil) != want {
				t.Errorf("%q: %v", pattern, err)
			}
		}
	}
}

// A rule also holds for the other form of a name in Unicode, which macOS takes for the same name.
func TestGuard_unicodeForms(t *testing.T) {
	t.Parallel()
	for _, forms := range [][]string{
		{"Priv\u00e9", "prive\u0301"}, {"\u0130x", "I\u0307x"}, {"ar\u03af", "ar\u03b9\u0301", "AR\u0399\u0301"},
		{"\u03ba\u03b1\u03b9", "\u039a\u0391\u0399"},
	} {
		for _, rule := range forms {
			testForms(t, rule, forms)
		}
	}
	g := guard.New(guard.Policy{Denied: []string{"\u03ba\u03b1*"}})
	if err := g.Check("\u039a\u0391\u0399.TXT", guard.Look); !errors.Is(err, names.ErrDenied) {
		t.Error(err)
	}
}

func testForms(t *testing.T, rule string, forms []string) {
	t.Helper()
	g := guard.New(guard.Policy{Denied: []string{rule + "/**"}, Reserved: rule + "-state", Closed: []string{rule + "-closed"}})
	for _, name := range forms {
		for path, want := range map[string]error{
			"/x": names.ErrDenied, "-state": names.ErrReserved, "-closed/x": names.ErrReserved, "e": nil,
		} {
			if err := g.Check(name+path, guard.Look); !errors.Is(err, want) {
				t.Errorf("%q for %q: %v", rule, name+path, err)
			}
		}
	}
}
