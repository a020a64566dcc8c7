package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/cmd/millrace/internal/door"
	"github.com/millrace-go/millrace/cmd/millrace/internal/elsewhere"
	"github.com/millrace-go/millrace/cmd/millrace/internal/oneline"
)

// newReplace makes `replace`.
func (a *App) newReplace() *cobra.Command {
	var r oneline.Replace
	cmd := &cobra.Command{
		Use:        "replace OLD NEW [PATH…]",
		SuggestFor: []string{"sub", "subst", "sd", "fastmod", "perl"},
		Short:      "Replace every occurrence of a text",
		Long: `Replace replaces OLD by NEW in the files at PATH, or below the working directory. OLD and NEW are
literal. With -r OLD is a regular expression (RE2): ^ and $ match at the ends of lines, and $1 or ${name} in NEW
are its groups. With -s OLD is code with
holes, such as f(:[a], :[b]), compared token by token, and :[a] in NEW is the code in hole a. docs/structural.md has
the details. Files that .gitignore ignores, and binary files, are not changed.

With --before LINE or --after LINE there is no NEW: LINE is inserted before or after each line with OLD, and OLD
does not change. With -r, LINE has $1 and ${name} too, and $0 is the line with OLD. A match over several lines
counts as a single line.

With --map FILE there is neither OLD nor NEW: FILE has a line for each text, OLD, a tab (or ==>, or =), NEW. Or
FILE is a .csv or .tsv, or a .json or .yaml with an object of old and new texts. All texts are replaced at once;
if several match at the same place, the longest wins.

With --preserve-case "old name" matches oldName, OldName, old_name, old-name, OLD_NAME and so on. Each is replaced
by NEW in the same case.

With - as the only PATH the command is a filter: it changes stdin and writes it to stdout. A file of that name is ./-.

A word has letters, digits and marks of any script, and underscores. A glob of -g without a slash matches names in
any directory. A glob with a slash counts from the working directory. "!" before a glob excludes its files.`,
		Example: `  millrace replace recieve receive
  millrace replace -w colour color docs -t md
  millrace replace -r 'ioutil\.(\w+)' 'os.$1' -t go -y --expect 1..
  millrace replace -s 'errors.New(fmt.Sprintf(:[a]))' 'fmt.Errorf(:[a])' -t go
  millrace replace --after 'import "os"' 'import "fmt"' main.go
  millrace replace --before '# deprecated: ${1}' -r '^def (old_\w+)' -t py
  millrace replace --preserve-case user_account customer
  millrace replace --map words.csv docs
  millrace replace v1.2.3 v1.2.4 -g '*.yaml' -g '!vendor'
  kubectl get deploy web -o yaml | millrace replace v1.2.3 v1.2.4 - | kubectl apply -f -
  git ls-files -z '*.go' | millrace replace old new --files-from - -0`,
	}
	f := cmd.Flags()
	var before, after string
	f.StringVar(&before, "before", "", "put `LINE` before each line with OLD; there is no NEW then")
	f.StringVar(&after, "after", "", "put `LINE` after each line with OLD; there is no NEW then")
	cmd.MarkFlagsMutuallyExclusive("before", "after")
	f.StringVar(&r.Map, "map", "", "replace the texts that `FILE` lists, at once; there is no OLD and NEW then")
	f.BoolVar(&r.PreserveCase, "preserve-case", false,
		"also oldName, OldName, old_name, OLD_NAME and so on, with NEW in the same case")
	f.IntVar(&r.Max, "max", 0, "replace at most `N` matches in each file")
	f.IntVar(&r.MaxTotal, "max-total", 0, "replace only the first `N` matches in all files")
	own := func() int { // number of arguments before the PATHs
		if f.Changed("map") {
			return 0
		}
		if f.Changed("before") || f.Changed("after") {
			return 1
		}
		return 2
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error { return door.Args(own(), -1)(cmd, args) }
	f.BoolVarP(&r.Regex, "regex", "r", false, "OLD is a regular expression")
	f.BoolVarP(&r.Structural, "structural", "s", false, "OLD is code with holes such as :[x], compared token by token")
	f.StringVar(&r.Language, "lang", "",
		"the language of the files for -s: `NAME` is go, python and so on; by default from their names")
	f.StringVar(&r.Encoding, "encoding", "",
		"encoding of the files: `NAME` is utf-8, auto (UTF-16 by its mark), utf-16le, utf-16be or latin1")
	f.BoolVarP(&r.IgnoreCase, "ignore-case", "i", false, "ignore the case of letters")
	f.BoolVarP(&r.Words, "word", "w", false, "find whole words only")
	f.StringArrayVarP(&r.Globs, "glob", "g", nil,
		"only files that match `GLOB`; with ! before it, only others; may be repeated")
	f.StringArrayVarP(&r.Types, "type", "t", nil, "only files whose names end in .`EXT`; may be repeated")
	f.BoolVar(&r.NoIgnore, "no-ignore", false, "also files that .gitignore ignores")
	f.BoolVar(&r.NoGenerated, "no-generated", false,
		"omit generated files: \"Code generated … DO NOT EDIT\", @generated")
	f.StringVar(&r.FilesFrom, "files-from", "", "read more PATHs from `FILE`, each on a line; - for stdin")
	f.BoolVarP(&a.flags.nul, "null", "0", false, "end each name of --files-from and of --format names with a NUL")
	build := func(w oneline.Where, c oneline.Common, args []string) (millrace.Pipeline, error) {
		if f.Changed("max") && r.Max < 1 || f.Changed("max-total") && r.MaxTotal < 1 {
			return millrace.Pipeline{}, &usageError{errors.New("--max and --max-total take a number from 1")}
		}
		r.Nul = a.flags.nul && (r.FilesFrom != "" || a.flags.format != formatNames)
		r.Common, r.Paths = c, args[own():]
		if own() > 0 {
			r.Old = args[0]
			a.typed = shownText(r.Old)
		}
		switch {
		case f.Changed("map"):
		case f.Changed("before"):
			r.New, r.Insert = before, oneline.InsertBefore
		case f.Changed("after"):
			r.New, r.Insert = after, oneline.InsertAfter
		default:
			r.New = args[1]
		}
		if len(args) == 2 && own() == 2 && elsewhere.IsScript(r.Old) && exists(a.base(r.New)) {
			line, _ := elsewhere.Command(args)
			return millrace.Pipeline{}, &usageError{fmt.Errorf("OLD is a script of sed, and NEW is a file; write: %s",
				line)}
		}
		return w.Replace(r)
	}
	a.oneLine(cmd, build)
	a.filters(cmd, func(args []string) []string { return args[own():] }, build)
	return cmd
}
