package elsewhere

import (
	"regexp"
	"slices"
	"strings"
)

// rename translates the rename of perl, with a script, and that of util-linux, with two texts.
func rename(args []string) []string {
	a := parsed(args, "e")
	words := []string{"mv"}
	if a.has("n nono no-act") {
		words = append(words, "-n")
	}
	rest := append(a.all("e"), a.words...)
	if len(rest) == 0 {
		return nil
	}
	if s, ok := parseScript(rest[0]); ok {
		if s.command != 's' {
			return nil
		}
		return append(append(words, "-r", s.old, s.dollars()), rest[1:]...)
	}
	if len(rest) < 3 {
		return nil
	}
	return append(append(words, "--replace", rest[0]+"="+rest[1]), rest[2:]...)
}

// place is a wildcard in the new name of mmv.
var place = regexp.MustCompile(`#(\d)`)

// mmv translates mmv FROM TO, with #1 for the first wildcard.
func mmv(args []string) []string {
	a := parsed(args, "")
	if len(a.words) != 2 {
		return nil
	}
	pattern := "^"
	for _, r := range a.words[0] {
		switch r {
		case '*':
			pattern += "([^/]*)"
		case '?':
			pattern += "([^/])"
		case '[', ';':
			return nil
		default:
			pattern += regexp.QuoteMeta(string(r))
		}
	}
	words := []string{"mv", "-r", pattern + "$", place.ReplaceAllString(a.words[1], `${$1}`)}
	if a.has("n") {
		words = slices.Insert(words, 1, "-n")
	}
	return words
}

// find translates find DIR -name GLOB with -delete or -exec; without these it lists.
func find(args []string) []string {
	var dirs, run []string
	name, deletes := "*", false
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case arg == "-name" && i+1 < len(args):
			i++
			name = args[i]
		case arg == "-type" && i+1 < len(args):
			if i++; args[i] != "f" {
				return nil
			}
		case arg == "-delete":
			deletes = true
		case arg == "-exec" || arg == "-execdir":
			for i++; i < len(args) && args[i] != ";" && args[i] != "+"; i++ {
				run = append(run, args[i])
			}
		case arg == "-print", arg == "-print0":
		case strings.HasPrefix(arg, "-"), arg == "!", arg == "(":
			return nil
		default:
			dirs = append(dirs, strings.TrimSuffix(arg, "/"))
		}
	}
	var globs []string
	for _, dir := range filesOr(dirs, ".") {
		globs = append(globs, strings.TrimPrefix(dir+"/**/"+name, "./"))
	}
	return found(globs, run, deletes)
}

// fd translates fd -e EXT -x COMMAND.
func fd(args []string) []string {
	var run []string
	if at := slices.IndexFunc(args,
		func(arg string) bool { return arg == "-x" || arg == "-X" || arg == "--exec" }); at >= 0 {
		args, run = args[:at], args[at+1:]
	}
	a := parsed(args, "e extension")
	exts := a.all("e extension")
	if len(exts) != 1 || len(a.words) > 0 {
		return nil
	}
	return found([]string{"**/*." + exts[0]}, run, false)
}

// found returns the command for the files that globs match.
func found(globs, run []string, deletes bool) []string {
	if deletes || len(run) > 0 && run[0] == "rm" {
		return append([]string{"rm"}, globs...)
	}
	if len(run) == 0 {
		words := []string{"do", "list", "depth=-1"}
		for _, glob := range globs {
			words = append(words, "include="+glob)
		}
		return words
	}
	args := slices.DeleteFunc(slices.Clone(run[1:]), func(word string) bool { return word == "{}" })
	switch run[0] {
	case "sed":
		a := parsed(args, "e")
		a.flags["i"] = nil
		scripts := append(a.all("e"), a.words...)
		if len(scripts) != 1 {
			return nil
		}
		return append([]string{"sed", scripts[0]}, globs...)
	case "perl":
		return perl(append(args, globs...))
	case "sd":
		words := sd(args)
		for _, glob := range globs {
			words = append(words, "-g", glob)
		}
		return words
	case "grep":
		words := grep(args)
		for _, glob := range globs {
			words = append(words, "-g", glob)
		}
		return words
	}
	return nil
}

// git translates git apply, am, mv, rm, grep, checkout, restore and revert.
func git(args []string) []string {
	if len(args) == 0 {
		return nil
	}
	switch rest := args[1:]; args[0] {
	case "apply", "am":
		n, rest := strip(rest)
		a := parsed(rest, "directory C")
		words := []string{"patch"}
		if a.has("R reverse") {
			words = append(words, "-R")
		}
		if a.has("check stat numstat") {
			words = append(words, "-n")
		}
		for _, dir := range a.all("directory") {
			words = append(words, "--in", dir)
		}
		if n != "" {
			words = append(words, "--strip", n)
		}
		return append(words, a.words...)
	case "mv", "rm", "log":
		return args
	case "grep":
		return grep(rest)
	case "checkout", "restore", "revert", "reset", "stash":
		return []string{"undo"}
	case "diff":
		return []string{"plan", "FILE"}
	}
	return nil
}

// stripped matches -p0 or -p1.
var stripped = regexp.MustCompile(`^-p(\d)$`)

// strip returns the number of -p0 or -p1, "" without it, and the other arguments.
func strip(args []string) (n string, rest []string) {
	for _, arg := range args {
		if m := stripped.FindStringSubmatch(arg); m != nil {
			n = m[1]
		} else {
			rest = append(rest, arg)
		}
	}
	return n, rest
}

// patch translates patch -p1. Without a number or other flags of patch, -p would be millrace's review.
func patch(args []string) []string {
	n, args := strip(args)
	a := parsed(args, "i input d directory o strip")
	if n == "" && !a.has("i input d directory") {
		return nil
	}
	words := []string{"patch"}
	if n != "" {
		words = append(words, "--strip", n)
	}
	for _, dir := range a.all("d directory") {
		words = append(words, "--in", dir)
	}
	for _, flag := range []struct{ theirs, ours string }{{"R reverse", "-R"}, {"dry-run n", "-n"}, {"y yes", "-y"}} {
		if a.has(flag.theirs) {
			words = append(words, flag.ours)
		}
	}
	return append(append(words, a.all("i input")...), a.words...)
}
