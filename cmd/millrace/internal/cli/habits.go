package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/millrace-go/millrace/cmd/millrace/internal/elsewhere"
	"github.com/millrace-go/millrace/fsutil"
)

// habit is a flag of other tools, and its equivalent here.
type habit struct {
	flags string // the names of the flag, separated by blanks
	needs string // flags of which a command must have at least one for the hint to apply
	hint  string
}

// habits are the flags of grep, ripgrep, sed, perl, sd, fastmod, mv and patch that have another form in this command.
// The first matching row is used.
func habits() []habit {
	return []habit{
		{"E r regexp-extended", "printed", "SCRIPT is read as sed -E reads it; --syntax re2 is for \\d and \\w"},
		{"z null-data", "printed", "millrace replace -r '(?s)OLD' NEW matches across lines"},
		{"s separate u unbuffered", "printed", "leave it out: each file is edited on its own"},
		{"f file", "printed", "write -e \"$(cat FILE)\""},
		{"b backup N forward", "recount", "leave it out: a change has a backup, and a hunk that is applied already is left as it is"},
		{"s silent", "recount", "-q is the same"},
		{"include", "glob", "-g GLOB chooses files"},
		{"exclude exclude-dir", "glob", "-g '!GLOB' leaves files out"},
		{"extensions ext", "preserve-case count", "-t EXT chooses files by the end of their names"},
		{"l files-with-matches", "format", "--format names prints the names of the files"},
		{"c", "count", "--count prints how many matches each file has"},
		{"n line-number", "count", "leave it out: each line is printed with its number"},
		{"w word-regexp", "count", "-r '\\bPATTERN\\b' finds whole words"},
		{"A B context", "count", "millrace do search pattern=PATTERN context_lines=N shows lines around a match"},
		{"replace", "count", "millrace replace OLD NEW replaces"},
		{"e E P regexp perl-regexp extended-regexp", "regex", "-r is for a regular expression"},
		{"F fixed-strings string-mode", "regex", "OLD is a text unless -r is there"},
		{"m U multiline", "regex", "-r '(?s)OLD' lets a dot match the end of a line too"},
		{"R recursive", "glob", "directories are searched with all below them"},
		{"hidden", "glob", "leave it out: names with a dot are searched too, but for what .gitignore leaves out"},
		{"u update", "overwrite", "leave it out: what is there is replaced with --overwrite alone"},
		{"u unrestricted", "no-ignore", "--no-ignore takes what .gitignore leaves out"},
		{"all global g", "max", "leave it out: each match is replaced, --max N bounds them"},
		{"backup", "preserve-case", "leave it out: each change has a backup, which millrace undo takes back"},
		{"f force", "recursive", "-y deletes without asking; millrace undo brings the files back"},
		{"f force", "overwrite", "--overwrite replaces what is there, -y does not ask"},
		{"t target-directory", "overwrite", "write the directory at the end: SRC… DIR/"},
		{"r R a recursive archive", "overwrite", "write 'DIR/**' NEW/ for all that is in a directory"},
		{"interactive i", "recursive overwrite", "-p asks about each part of the change"},
		{"interactive", "review", "-p asks about each part of the change"},
		{"a accept-all", "yes", "-y makes the change without asking"},
		{"i inplace", "yes", "files are changed in place, with -y without asking; undo takes it back"},
	}
}

// habitOf returns the hint for a flag of another tool that the command does not have.
func habitOf(flag string, flags *pflag.FlagSet) (hint string, ok bool) {
	for _, h := range habits() {
		has := func(name string) bool { return flags.Lookup(name) != nil }
		if slices.Contains(strings.Fields(h.flags), flag) && slices.ContainsFunc(strings.Fields(h.needs), has) {
			return h.hint, true
		}
	}
	return "", false
}

// elsewhereError returns an error with the equivalent command line, if the arguments are for another tool: sd, perl,
// git apply, or patch with -p1, which is a review here. Otherwise it returns nil.
func elsewhereError(root *cobra.Command, args []string) error {
	for len(args) > 1 && args[0] == "-C" {
		args = args[2:]
	}
	if len(args) == 0 {
		return nil
	}
	ours := slices.ContainsFunc(root.Commands(), func(c *cobra.Command) bool { return c.Name() == args[0] })
	if ours && args[0] != "patch" {
		return nil
	}
	line, ok := elsewhere.Command(args)
	if !ok {
		return nil
	}
	if ours {
		return &usageError{fmt.Errorf("%s has flags of another program; write: %s", args[0], line)}
	}
	return &usageError{fmt.Errorf("'%s' is not a command; write: %s", fsutil.Visible(args[0]), line)}
}
