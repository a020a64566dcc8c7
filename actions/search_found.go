package actions

import (
	"slices"
	"strings"

	"github.com/millrace-go/millrace/internal/kinds"
	"github.com/millrace-go/millrace/internal/walk"
	"github.com/millrace-go/millrace/wording"
)

type found struct {
	path    string
	count   int
	content string // if the search asks for content or lines
	matches []any  // if the search asks for them
	asText  bool   // an ambiguous pattern occurs as a text
}

// first reports whether the search has not seen that file before.
func (s *searching) first(e walk.Entry) bool {
	if s.visited == nil {
		return true
	}
	_, been := s.visited.LoadOrStore(e.Path(), true)
	return !been
}

func (s *searching) note(list *[]string, name string) {
	s.mu.Lock()
	*list = append(*list, name)
	s.mu.Unlock()
}

// outcome returns the results in path order, and emits the warnings.
func (s *searching) outcome() Outcome {
	slices.SortFunc(s.found, func(a, b found) int { return strings.Compare(a.path, b.path) })
	slices.Sort(s.textual)
	slices.Sort(s.large)
	out := Outcome{
		Counts: make(map[string]int, len(s.found)), Mode: s.pattern.Mode().String(), LeftOut: s.left.list(s.c),
	}
	if s.IncludeContent || s.shows() {
		out.Content = make(map[string]string, len(s.found))
	}
	asText, matches := 0, []any{}
	if s.WithoutMatch {
		out.Files, s.found = s.withoutMatch(), nil
	}
	for _, f := range s.found {
		out.Files = append(out.Files, f.path)
		out.Counts[f.path] = f.count
		matches = append(matches, f.matches...)
		if out.Content != nil {
			out.Content[f.path] = f.content
		}
		if f.asText {
			asText++
		}
	}
	if s.Matches {
		out.Data = map[string]any{"matches": matches}
	}
	for _, name := range s.large {
		s.c.Warnf("%s: left out, larger than %d bytes", name, s.maxBytes)
	}
	s.warnText(len(out.Files))
	if hole := s.pattern.Warning(); hole != "" && len(s.found) == 0 {
		s.c.Warnf("%s", hole)
	}
	// A pattern like f(x) is a regular expression, but most likely not meant as one.
	pattern := quoted(s.pattern.Source())
	if len(s.textual) > 0 {
		s.c.Warnf("pattern %s was read as a regular expression; as plain text it also occurs in %d files "+
			"in which it does not match so, such as %s; %v", pattern, len(s.textual), s.textual[0], setMode)
	} else if asText > 0 {
		s.c.Warnf("pattern %s was read as a regular expression, and occurs as plain text in %d of the files; %v",
			pattern, asText, setMode)
	}
	return out
}

// setMode is the advice for a pattern that can be read in two ways.
var setMode = wording.Part{Kind: kinds.SetMode, Text: "set mode to say which is meant"}

// warnText warns that a pattern was read as a text although it looks like a regular expression or was not found.
func (s *searching) warnText(files int) {
	why := s.pattern.Refused()
	if why == nil || files > 0 && !s.WithoutMatch && !s.pattern.LooksRegular() {
		return
	}
	hint := ""
	if why.Hint != "" {
		hint = " (" + why.Hint + ")"
	}
	s.c.Warnf("pattern %s was read as a text, for it is not a regular expression: %s%s; %v",
		quoted(s.pattern.Source()), why.Msg, hint, setMode)
}

// withoutMatch returns the searched files without a match, in path order, except files over the size limit.
func (s *searching) withoutMatch() []string {
	not := setOf(s.large)
	for _, f := range s.found {
		not[f.path] = true
	}
	files := slices.DeleteFunc(s.seen, func(name string) bool { return not[name] })
	slices.Sort(files)
	return files
}
