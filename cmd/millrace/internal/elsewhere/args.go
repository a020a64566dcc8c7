package elsewhere

import "strings"

// arguments are the flags and the other words of a command line.
type arguments struct {
	flags map[string][]string // by name without dashes; a flag without a value has ""
	words []string
}

// has reports whether a flag with one of the names, separated by blanks, is present.
func (a arguments) has(names string) bool {
	for _, name := range strings.Fields(names) {
		if _, ok := a.flags[name]; ok {
			return true
		}
	}
	return false
}

// all returns the values of the flags, in the order of names.
func (a arguments) all(names string) []string {
	var values []string
	for _, name := range strings.Fields(names) {
		values = append(values, a.flags[name]...)
	}
	return values
}

// parsed parses a command line. The flags in valued take a value: the rest of the word, or the next word. Other short
// flags can be combined in one word.
func parsed(args []string, valued string) arguments {
	takes := make(map[string]bool)
	for _, name := range strings.Fields(valued) {
		takes[name] = true
	}
	a := arguments{flags: make(map[string][]string)}
	for i := 0; i < len(args); i++ {
		arg := args[i]
		next := func() string {
			if i+1 < len(args) {
				i++
				return args[i]
			}
			return ""
		}
		switch {
		case arg == "--":
			a.words = append(a.words, args[i+1:]...)
			return a
		case strings.HasPrefix(arg, "--"):
			name, value, given := strings.Cut(arg[2:], "=")
			if !given && takes[name] {
				value = next()
			}
			a.flags[name] = append(a.flags[name], value)
		case len(arg) > 1 && arg[0] == '-':
			a.short(arg[1:], takes, next)
		default:
			a.words = append(a.words, arg)
		}
	}
	return a
}

// short parses the flags of one word.
func (a arguments) short(text string, takes map[string]bool, next func() string) {
	for i, r := range text {
		name, rest := string(r), text[i+len(string(r)):]
		if takes[name] {
			if rest == "" {
				rest = next()
			}
			a.flags[name] = append(a.flags[name], rest)
			return
		}
		a.flags[name] = append(a.flags[name], "")
	}
}
