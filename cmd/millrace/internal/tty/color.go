package tty

import (
	"runtime"
	"slices"
)

// noTerm means that consoles of the system have colours but no TERM.
const noTerm = runtime.GOOS == "windows"

// The words of --color and of the configuration.
const (
	Auto   = "auto"
	Always = "always"
	Never  = "never"
)

// Color decides whether a stream gets colours. choice is the user's setting for this program, "" meaning [Auto]. After
// that the environment decides, in this order: NO_COLOR, CLICOLOR_FORCE and FORCE_COLOR, CLICOLOR and TERM; a terminal
// without TERM has no colours. Otherwise only a terminal gets colours.
func Color(choice string, getenv func(string) string, terminal bool) bool {
	set := func(name string) bool { return !slices.Contains([]string{"", "0"}, getenv(name)) }
	switch {
	case choice == Always:
		return true
	case choice == Never, getenv("NO_COLOR") != "":
		return false
	case set("CLICOLOR_FORCE"), set("FORCE_COLOR"):
		return true
	case getenv("CLICOLOR") == "0", getenv("TERM") == "dumb", getenv("TERM") == "" && !noTerm:
		return false
	}
	return terminal
}
