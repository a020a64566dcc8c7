package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// standIn does as much of ripgrep, as plainly as it can be done, as the jobs ask for, so that they can be tested
// where it is not installed. It knows nothing of .gitignore files.
func standIn(args []string, stdout io.Writer) error {
	var list, zero, count, matches, fixed, fold, all bool
	var words []string
	for _, arg := range args {
		switch arg {
		case "--version":
			_, err := fmt.Fprintln(stdout, "stand-in for ripgrep")
			return err
		case "--count-matches":
			matches = true
		case "--no-unicode", "--no-mmap", "--hidden", "--no-ignore-global", "--no-ignore-parent", "--no-ignore-dot", "-e":
		default:
			if !strings.HasPrefix(arg, "-") {
				words = append(words, arg)
				break
			}
			list, zero, count = list || strings.Contains(arg, "l"), zero || strings.Contains(arg, "0"), count || strings.Contains(arg, "c")
			fixed, fold, all = fixed || strings.Contains(arg, "F"), fold || strings.Contains(arg, "i"), all || strings.Contains(arg, "u")
		}
	}
	pattern := words[0]
	if fixed {
		pattern = regexp.QuoteMeta(pattern)
	}
	if fold {
		pattern = "(?i)" + pattern
	}
	re := regexp.MustCompile(pattern)
	w := bufio.NewWriter(stdout)
	err := filepath.WalkDir(words[1], func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		found := re.FindAllIndex(data, -1)
		hidden := slices.ContainsFunc(strings.Split(name, "/"), func(s string) bool { return len(s) > 1 && s[0] == '.' })
		if len(found) == 0 || !all && (hidden || bytes.IndexByte(data, 0) >= 0) {
			return nil
		}
		n := len(found)
		if count {
			n = 0
			for line := range bytes.Lines(data) {
				if re.Match(line) {
					n++
				}
			}
		}
		switch {
		case name == words[1]:
			fmt.Fprintln(w, n)
		case count || matches:
			fmt.Fprintf(w, "./%s:%d\n", name, n)
		case zero:
			fmt.Fprintf(w, "./%s\x00", name)
		case list:
			fmt.Fprintf(w, "./%s\n", name)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return w.Flush()
}
