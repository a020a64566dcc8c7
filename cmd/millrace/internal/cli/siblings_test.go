package cli

import (
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A flag has the same meaning in all commands of one parent, and all decisions about runs accept the same flags.
func TestSiblingFlags(t *testing.T) {
	root := (&App{}).newRoot()
	var visit func(parent *cobra.Command)
	visit = func(parent *cobra.Command) {
		long, short := map[string]*pflag.Flag{}, map[string]*pflag.Flag{}
		for _, cmd := range parent.Commands() {
			visit(cmd)
			if parent == root {
				continue // these flags do different things
			}
			cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
				if other := long[f.Name]; other != nil &&
					(other.Shorthand != f.Shorthand || other.Value.Type() != f.Value.Type()) {
					t.Errorf("%s: --%s is -%s of %s, and -%s of %s elsewhere", cmd.CommandPath(), f.Name, f.Shorthand,
						f.Value.Type(), other.Shorthand, other.Value.Type())
				}
				long[f.Name] = f
				if f.Shorthand == "" {
					return
				}
				if other := short[f.Shorthand]; other != nil && other.Name != f.Name {
					t.Errorf("%s: -%s is --%s, and --%s elsewhere", cmd.CommandPath(), f.Shorthand, f.Name, other.Name)
				}
				short[f.Shorthand] = f
			})
		}
	}
	visit(root)
	for _, verb := range []string{"approve", "reject", "cancel", "retry", "resume", "rm"} {
		cmd, _, err := root.Find([]string{"runs", verb})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"yes", "store", "format"} {
			if cmd.Flags().Lookup(name) == nil {
				t.Errorf("runs %s has no --%s", verb, name)
			}
		}
	}
}
