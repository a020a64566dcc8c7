package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Each value of --format has its row in the topic `help formats`.
func TestFormatsAreExplained(t *testing.T) {
	t.Parallel()
	text := new(App).newFormats().Long
	for _, word := range changeFormats {
		if !strings.Contains(text, "\n  "+word+" ") {
			t.Errorf("newFormats in topics.go has no row for --format %s", word)
		}
	}
}

// A filter refuses each flag about changes of files, because it changes no files.
func TestFlagsOfAFilter(t *testing.T) {
	t.Parallel()
	heeded := []string{"yes", "expect", "no-project", "null"} // flags of changeFlags that a filter accepts
	a, cmd := new(App), new(cobra.Command)
	a.changeFlags(cmd)
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if slices.Contains(heeded, f.Name) == slices.Contains(changing, f.Name) {
			t.Errorf("--%s: want it in changing in filter.go, or in heeded in this test if a filter accepts it", f.Name)
		}
	})
	var filters []*cobra.Command
	for _, name := range []string{"replace", "sed"} {
		filter, _, err := new(App).newRoot().Find([]string{name})
		if err != nil {
			t.Fatal(err)
		}
		filters = append(filters, filter)
	}
	for _, name := range changing {
		if !slices.ContainsFunc(filters, func(c *cobra.Command) bool { return c.Flags().Lookup(name) != nil }) {
			t.Errorf("changing in filter.go has --%s, which no filter has", name)
		}
	}
}
