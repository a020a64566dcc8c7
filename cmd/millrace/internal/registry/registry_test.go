package registry_test

import (
	"slices"
	"testing"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/cmd/millrace/internal/registry"
	"github.com/millrace-go/millrace/command"
	"github.com/millrace-go/millrace/gocode"
)

func TestCommand(t *testing.T) {
	for _, test := range []struct {
		action  actions.Action
		words   []string
		pattern string
	}{
		{actions.Exec{Command: "make", Args: []string{"all"}}, []string{"make", "all"}, "make *"},
		{gocode.Fix{Packages: []string{"./a"}}, []string{"go", "list"}, "go list *"},
		{gocode.Rewrite{Pattern: "a + b", Replacement: "b + a"}, []string{"go", "list"}, "go list *"},
		{gocode.Format{}, nil, ""},
		{actions.Edit{}, nil, ""},
	} {
		run, pattern, ok := registry.Command(test.action)
		if ok != (test.words != nil) || pattern != test.pattern || ok && !slices.Equal(run.Words()[:2], test.words) {
			t.Errorf("%T: %q, %q, %v", test.action, run.Words(), pattern, ok)
		}
	}
}

// A server has the actions for Go code if it may run the go command, which two of them need.
func TestServed(t *testing.T) {
	for _, allowed := range []bool{false, true} {
		names := registry.Served(func(c command.Command) bool {
			return allowed && slices.Equal(c.Words[:2], []string{"go", "list"})
		}).Actions.Names()
		if !slices.Contains(names, "exec") {
			t.Error("there is no exec")
		}
		for _, name := range []string{"go_format", "go_imports", "go_fix", "go_rewrite"} {
			if slices.Contains(names, name) != allowed {
				t.Errorf("%v: %q", allowed, names)
			}
		}
	}
	if got := len(registry.Decoder().Actions.Names()) - len(actions.Builtin().Names()); got != 4 {
		t.Errorf("%d actions for Go code", got)
	}
}
