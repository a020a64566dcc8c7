package oneline

import (
	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
)

// Search are the arguments of `millrace search PATTERN [PATH…]`.
type Search struct {
	Common
	Pattern string
	// Paths are the files and directories to search. None means the working directory.
	Paths []string
	// Mode and Language are as in actions.Search.
	Mode, Language string
	// IgnoreCase ignores the case of letters.
	IgnoreCase bool
	// Globs select files; with "!" before them they exclude. Types select by the end of the name.
	Globs, Types []string
	// NoIgnore also searches files that .gitignore files exclude.
	NoIgnore bool
	// NoGenerated excludes files with the mark of a generator.
	NoGenerated bool
	// Matches asks for each match.
	Matches bool
}

// Search returns the pipeline, which has one search step.
func (w Where) Search(s Search) (millrace.Pipeline, error) {
	if s.Pattern == "" {
		return millrace.Pipeline{}, usage("", "the pattern cannot be empty")
	}
	paths, err := w.paths(Replace{Paths: s.Paths})
	if err != nil {
		return millrace.Pipeline{}, err
	}
	search := actions.Search{
		Pattern: s.Pattern, Mode: s.Mode, Language: s.Language, IgnoreCase: s.IgnoreCase, NoIgnore: s.NoIgnore,
		NoGenerated: s.NoGenerated,
		Matches:     s.Matches, Paths: paths,
	}
	if search.Include, search.Exclude, err = w.filters(s.Globs); err != nil {
		return millrace.Pipeline{}, err
	}
	if search.FileTypes, err = types(s.Types); err != nil {
		return millrace.Pipeline{}, err
	}
	return s.build("search", s.Pattern, millrace.Step{ID: stepFind, Action: search, Raw: true})
}
