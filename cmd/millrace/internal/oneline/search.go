package oneline

import (
	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
)

// Search is what `millrace search PATTERN [PATH…]` was given.
type Search struct {
	Common
	Pattern string
	// Paths are files and directories to look into. None is the working directory.
	Paths []string
	// Mode and Language are those of actions.Search.
	Mode, Language string
	// IgnoreCase finds letters in any case.
	IgnoreCase bool
	// Globs choose among the files; with "!" before them they leave out. Types do by the end of the name.
	Globs, Types []string
	// NoIgnore also looks into what .gitignore files leave out.
	NoIgnore bool
	// NoGenerated leaves out files with the mark of a generator.
	NoGenerated bool
	// Matches asks for each match.
	Matches bool
}

// Search returns the pipeline: one step, which finds.
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
