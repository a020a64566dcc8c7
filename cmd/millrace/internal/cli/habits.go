package cli

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// habit is a flag of other tools, and the way to write the same here.
type habit struct {
	flags string // their names, separated by blanks
	needs string // the flag that a command must have for the hint to be true
	hint  string
}

// habits are the flags of grep, ripgrep, sed, perl, sd and fastmod that this command writes in another way.
func habits() []habit {
	return []habit{
		{"include", "glob", "-g GLOB chooses files"},
		{"exclude exclude-dir", "glob", "-g '!GLOB' leaves files out"},
		{"l files-with-matches", "format", "--format names prints the names of the files"},
		{"c", "count", "--count prints how many matches each file has"},
		{"e E P regexp perl-regexp extended-regexp", "regex", "-r is for a regular expression"},
		{"F fixed-strings", "regex", "OLD is a text unless -r is there"},
		{"R recursive", "glob", "directories are searched with all below them"},
		{"a accept-all", "yes", "-y makes the change without asking"},
		{"i inplace", "yes", "files are changed in place, with -y without asking; undo takes it back"},
	}
}

// habitOf returns the hint for a flag of another tool that the command does not have.
func habitOf(flag string, flags *pflag.FlagSet) (hint string, ok bool) {
	for _, h := range habits() {
		if slices.Contains(strings.Fields(h.flags), flag) && flags.Lookup(h.needs) != nil {
			return h.hint, true
		}
	}
	return "", false
}
