package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/cmd/millrace/internal/door"
	"github.com/millrace-go/millrace/cmd/millrace/internal/oneline"
)

// newPatch makes `patch`.
func (a *App) newPatch() *cobra.Command {
	var p oneline.Patch
	var strip int
	cmd := &cobra.Command{
		Use:   "patch [FILE]",
		Short: "Apply a patch",
		Long: `Patch applies the patch in FILE. It reads stdin for -, and without FILE if stdin is not a terminal.
The patch is a unified diff, a diff of git, or a format of models: "*** Begin Patch", or blocks of SEARCH and
REPLACE. The patch is applied completely or not at all. Its names count from the root of the tree, or from --in.`,
		Example: `  millrace patch fix.diff
  git diff main feature | millrace patch -y
  millrace patch -R fix.diff`,
		Args: door.Args(0, 1),
	}
	o, f := &p.Options, cmd.Flags()
	f.BoolVarP(&o.Reverse, "reverse", "R", false, "apply the patch in reverse")
	f.IntVar(&strip, "strip", 0, "remove `N` leading parts of names (default: 1 for diffs of git, and of a/ and b/)")
	f.StringVar(&o.Directory, "in", "", "the names in the patch count from `DIR`")
	f.StringVar(&o.Path, "path", "", "`FILE` for hunks without a file name")
	f.Var(&choice{to: &o.Format, words: []string{"auto", "unified", "apply_patch", "search_replace"}}, "as",
		"format of the patch: auto, unified, apply_patch, search_replace")
	f.Var(&choice{to: &o.Tolerance, words: []string{"none", "trailing_space", "indent", "typography"}}, "tolerance",
		"differences of lines to ignore: none, trailing_space, indent, typography")
	f.IntVar(&o.Fuzz, "fuzz", 0, "number of context lines at either end of a hunk that may differ, 0 to 3")
	f.BoolVar(&o.Overwrite, "overwrite", false, "replace existing files where the patch creates files")
	f.BoolVar(&o.Binary, "binary", false, "apply hunks to files that look binary")
	f.BoolVar(&o.Recount, "recount", false, "count the lines of the last hunk and ignore its numbers")
	nearest := f.Bool("nearest", false, "a hunk that fits several places goes to the nearest")
	goOn := f.Bool("keep-going", false, "do not change a file in which a hunk fails, and patch the others")
	a.oneLine(cmd, func(w oneline.Where, c oneline.Common, args []string) (millrace.Pipeline, error) {
		p.Common, p.File = c, "-"
		switch {
		case len(args) == 1:
			p.File = args[0]
		case !a.piped():
			return millrace.Pipeline{}, &usageError{errors.New("a patch is required: name a file, or - for stdin")}
		}
		if cmd.Flags().Changed("strip") {
			o.Strip = &strip
		}
		if *nearest {
			o.Ambiguous = "nearest"
		}
		if *goOn {
			o.OnError = "continue"
		}
		return w.Patch(p)
	})
	return cmd
}
