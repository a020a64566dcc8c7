package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/cmd/millrace/internal/oneline"
)

// newPatch makes `patch`.
func (a *App) newPatch() *cobra.Command {
	var p oneline.Patch
	var strip int
	cmd := &cobra.Command{
		Use:   "patch [FILE]",
		Short: "Apply a patch",
		Long: `Patch applies the patch in FILE; for -, and without FILE if stdin is no terminal, that in stdin. It is a unified diff,
also one of git, or what models write: "*** Begin Patch", or blocks of SEARCH and REPLACE. All of it is applied or
nothing. The names in it count from the root of the tree, or from --in.`,
		Example: `  millrace patch fix.diff
  git diff main feature | millrace patch -y
  millrace patch -R fix.diff`,
		Args: cobra.MaximumNArgs(1),
	}
	o, f := &p.Options, cmd.Flags()
	f.BoolVarP(&o.Reverse, "reverse", "R", false, "take the patch back")
	f.IntVar(&strip, "strip", 0, "leave out `N` leading parts of names (default: 1 for diffs of git, and of a/ and b/)")
	f.StringVar(&o.Directory, "in", "", "the names in the patch count from `DIR`")
	f.StringVar(&o.Path, "path", "", "`FILE` that hunks without a name are for")
	f.Var(&choice{to: &o.Format, words: []string{"auto", "unified", "apply_patch", "search_replace"}}, "as",
		"how the patch is written: auto, unified, apply_patch, search_replace")
	f.Var(&choice{to: &o.Tolerance, words: []string{"none", "trailing_space", "indent", "typography"}}, "tolerance",
		"what lines may differ in: none, trailing_space, indent, typography")
	f.IntVar(&o.Fuzz, "fuzz", 0, "how many quoted lines at either end of a hunk may differ, 0 to 3")
	f.BoolVar(&o.Overwrite, "overwrite", false, "replace files that exist where the patch makes one")
	f.BoolVar(&o.Binary, "binary", false, "apply hunks to files that look binary")
	f.BoolVar(&o.Recount, "recount", false, "count the lines of the last hunk, whatever its numbers are")
	nearest := f.Bool("nearest", false, "a hunk that fits several places goes to the nearest")
	goOn := f.Bool("keep-going", false, "leave a file in which a hunk fails as it was, and patch the others")
	a.oneLine(cmd, func(w oneline.Where, c oneline.Common, args []string) (millrace.Pipeline, error) {
		p.Common, p.File = c, "-"
		switch {
		case len(args) == 1:
			p.File = args[0]
		case !a.piped():
			return millrace.Pipeline{}, &usageError{errors.New("there is no patch: name a file, or - for stdin")}
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
