package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/cmd/millrace/internal/door"
	"github.com/millrace-go/millrace/cmd/millrace/internal/oneline"
	"github.com/millrace-go/millrace/fsutil"
)

// searched is the form in which `search` prints its result.
type searched struct {
	count, names, nul, json bool
}

// newSearch makes `search`.
func (a *App) newSearch() *cobra.Command {
	var s oneline.Search
	var show searched
	var literal, regex, structural bool
	cmd := &cobra.Command{
		Use:        "search PATTERN [PATH…]",
		SuggestFor: []string{"grep", "rg", "find"},
		Short:      "Find a text, a regular expression or structured code",
		Long: `Search prints the matches of PATTERN in the files at PATH, or below the working directory:
file:line:column: text. PATTERN is a regular expression (RE2) if it is valid and has special characters, else a
text; -r and -F select the kind. With -s PATTERN is code with holes, such as f(:[a], :[b]), compared token by
token, see docs/structural.md. Files that .gitignore ignores, and binary files, are not searched. A line on stderr,
and "left_out" of --json, count and name the files that were left out for their contents.

The exit status is 0 if there is a match, 1 if there is no match or the search fails, and 2 for wrong use.`,
		Example: `  millrace search recieve
  millrace search -s 'fmt.Errorf(:[a...])' -t go
  millrace search -s 'if (:[c]) return :[v];' src --count
  millrace search -r 'TODO\(\w+\)' -l`,
		Args: door.Args(1, -1),
	}
	f := cmd.Flags()
	f.BoolVarP(&regex, "regex", "r", false, "PATTERN is a regular expression")
	f.BoolVarP(&literal, "fixed-strings", "F", false, "PATTERN is a text")
	f.BoolVarP(&structural, "structural", "s", false,
		"PATTERN is code with holes such as :[x], compared token by token")
	cmd.MarkFlagsMutuallyExclusive("regex", "fixed-strings", "structural")
	f.StringVar(&s.Language, "lang", "",
		"the language of the files for -s: `NAME` is go, python and so on; by default from their names")
	f.BoolVarP(&s.IgnoreCase, "ignore-case", "i", false, "ignore the case of letters")
	f.StringArrayVarP(&s.Globs, "glob", "g", nil,
		"only files that match `GLOB`; with ! before it, only others; may be repeated")
	f.StringArrayVarP(&s.Types, "type", "t", nil, "only files whose names end in .`EXT`; may be repeated")
	f.BoolVar(&s.NoIgnore, "no-ignore", false, "also files that .gitignore ignores")
	f.BoolVar(&s.NoGenerated, "no-generated", false,
		"omit generated files: \"Code generated … DO NOT EDIT\", @generated")
	f.BoolVar(&show.count, "count", false, "print the number of matches in each file")
	f.BoolVarP(&show.names, "files-with-matches", "l", false, "print only the names of the files")
	f.BoolVarP(&show.nul, "null", "0", false, "end each name of -l with a NUL, not with a line end")
	f.BoolVar(&show.json, "json", false, "print an object with files, counts and matches")
	cmd.MarkFlagsMutuallyExclusive("count", "files-with-matches", "json")
	cmd.RunE = a.inTree(func(ctx context.Context, in *session, args []string) error {
		if show.nul && !show.names {
			return &usageError{errors.New("-0 is for -l, which prints the names of the files")}
		}
		in.oneLiner = cmd
		s.Pattern, s.Paths = args[0], args[1:]
		switch {
		case regex:
			s.Mode = "regex"
		case literal:
			s.Mode = "literal"
		case structural:
			s.Mode = "structural"
		}
		s.Matches = !show.count && !show.names
		return in.search(ctx, s, show)
	})
	return cmd
}

// search runs the search and prints the matches.
func (s *session) search(ctx context.Context, of oneline.Search, show searched) error {
	w, err := s.where(ctx)
	if err != nil {
		return err
	}
	p, err := w.Search(of)
	if wrong, ok := errors.AsType[*oneline.UsageError](err); ok {
		return &usageError{wrong}
	} else if err != nil {
		return err
	}
	result, err := s.x.Run(ctx, s.fs, p)
	if err != nil {
		return err
	}
	found := result.Results[0]
	for _, warning := range s.warnings(result) {
		s.warn(warning)
	}
	s.tellLeftOut(result)
	if err := s.writeFound(found, show); err != nil {
		return err
	}
	if len(found.FilesMatched) == 0 {
		return &saidError{"no_match"}
	}
	return nil
}

// writeFound prints the result of a search.
func (s *session) writeFound(found millrace.StepResult, show searched) error {
	data, _ := found.Data.(map[string]any)
	matches, _ := data["matches"].([]any)
	if show.json {
		object := map[string]any{"files": found.FilesMatched, "counts": found.Counts, "matches": matches}
		if len(found.LeftOut) > 0 {
			object["left_out"] = found.LeftOut
		}
		return s.writeJSON(object)
	}
	out := bufio.NewWriter(s.Stdout)
	for _, name := range found.FilesMatched {
		switch {
		case show.count:
			fmt.Fprintf(out, "%s:%d\n", fsutil.Visible(s.fromHere(name)), found.Counts[name])
		case show.nul:
			fmt.Fprint(out, s.fromHere(name), "\x00") // the raw bytes of the name, for a program
		case show.names:
			fmt.Fprintln(out, fsutil.Visible(s.fromHere(name)))
		}
	}
	for _, one := range matches {
		m, _ := one.(map[string]any)
		file, _ := m["file"].(string)
		text, _ := m["text"].(string)
		text, _, _ = strings.Cut(text, "\n")
		fmt.Fprintf(out, "%s:%v:%v: %s\n", fsutil.Visible(s.fromHere(file)), m["line"], m["column"],
			fsutil.Visible(strings.TrimSuffix(text, "\r")))
	}
	return output(out.Flush())
}

// fromHere converts a path relative to the root of the tree to one relative to the working directory.
func (s *session) fromHere(name string) string {
	rel, err := filepath.Rel(s.dir, filepath.Join(s.root, filepath.FromSlash(name)))
	if err != nil {
		rel = name
	}
	return filepath.ToSlash(rel)
}
