package door_test

import (
	"testing"

	"github.com/spf13/cobra"

	"github.com/millrace-go/millrace/cmd/millrace/internal/door"
)

func TestArgs(t *testing.T) {
	root, runs := &cobra.Command{Use: "millrace"}, &cobra.Command{Use: "runs"}
	show := &cobra.Command{Use: "show RUN"}
	root.AddCommand(runs)
	runs.AddCommand(show)
	for _, tt := range []struct {
		least, most, given int
		want               string
	}{
		{1, 1, 1, ""},
		{1, 1, 0, "runs show takes 1 argument, not 0"},
		{1, 1, 2, "runs show takes 1 argument, not 2"},
		{2, -1, 9, ""},
		{2, -1, 1, "runs show takes at least 2 arguments, not 1"},
		{0, 1, 0, ""},
		{0, 1, 2, "runs show takes at most 1 argument, not 2"},
		{1, 2, 0, "runs show takes at least 1 argument, not 0"},
		{1, 2, 3, "runs show takes at most 2 arguments, not 3"},
	} {
		got := ""
		if err := door.Args(tt.least, tt.most)(show, make([]string, tt.given)); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%d to %d arguments, given %d: %q, not %q", tt.least, tt.most, tt.given, got, tt.want)
		}
	}
}
