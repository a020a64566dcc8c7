// Package elsewhere translates command lines of other tools into the equivalent command lines of millrace, because
// people type commands out of habit: sd, perl -pi, rename, git apply.
package elsewhere

import (
	"slices"
	"strings"
)

// Command returns the millrace command line for a command line of another tool. ok is false without an equivalent.
// Words are quoted for a POSIX shell.
func Command(words []string) (line string, ok bool) {
	if len(words) == 0 {
		return "", false
	}
	to, ok := translations()[words[0]]
	if !ok {
		if e, ok := parseScript(words[0]); ok && e.command == 's' {
			return quoted(append([]string{"sed", words[0]}, words[1:]...)), true
		}
		return "", false
	}
	made := to(words[1:])
	if made == nil {
		return "", false
	}
	return quoted(made), true
}

// translations returns the tools, each with a function that translates its arguments to words of millrace; the result
// is nil without an equivalent.
func translations() map[string]func(args []string) []string {
	same := func(words ...string) func([]string) []string {
		return func([]string) []string { return words }
	}
	with := func(words ...string) func([]string) []string {
		return func(args []string) []string { return append(slices.Clone(words), args...) }
	}
	return map[string]func(args []string) []string{
		"perl": perl, "sd": sd, "fastmod": fastmod, "codemod": fastmod, "comby": comby, "tr": tr,
		"rg": rg, "grep": grep, "egrep": grep, "ag": grep, "ack": grep,
		"rename": rename, "prename": rename, "mmv": mmv, "find": find, "fd": fd, "git": git, "patch": patch,
		"delete": with("rm"), "move": with("mv"), "copy": with("cp"),
		"history": same("log"), "revert": same("undo"), "restore": same("undo"), "rollback": same("undo"),
		"commit": same("apply", "PLAN"), "diff": same("plan", "FILE"), "preview": same("plan", "FILE"),
		"dry-run": same("plan", "FILE"), "check": same("validate", "FILE"),
		"ls": func(args []string) []string { return each("do list", "path=", args) },
		"cat": func(args []string) []string {
			if len(args) == 0 {
				return nil
			}
			return each("do read_ranges", "files=", args)
		},
		"touch": func(args []string) []string {
			if len(args) == 0 {
				return nil
			}
			return append(each("do create", "paths=", args), "content=")
		},
		"edit": func(args []string) []string {
			return append(each("do edit", "files=", args), "old_text=OLD", "new_text=NEW")
		},
	}
}

// each returns a command with one parameter for each argument that is not a flag.
func each(command, parameter string, args []string) []string {
	words := strings.Fields(command)
	for _, arg := range args {
		if !strings.HasPrefix(arg, "-") {
			words = append(words, parameter+arg)
		}
	}
	return words
}

// quoted joins the words of a command line for a POSIX shell.
func quoted(words []string) string {
	line := "millrace"
	for _, word := range words {
		line += " " + quote(word)
	}
	return line
}

// quote quotes a word for a POSIX shell, if necessary.
func quote(word string) string {
	plain := func(r rune) bool {
		return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' ||
			strings.ContainsRune("-_./:=,+@%", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
