package actions

import (
	"slices"
	"strings"
)

// found is a file with matches.
type found struct {
	path    string
	count   int
	content string // if it or the lines are asked for
	asText  bool   // an ambiguous pattern occurs as a text
}

func (s *searching) add(hit found) {
	s.mu.Lock()
	s.found = append(s.found, hit)
	s.mu.Unlock()
}

func (s *searching) addText(name string) {
	s.mu.Lock()
	s.textual = append(s.textual, name)
	s.mu.Unlock()
}

// outcome returns what was found, in path order, and gives the warnings.
func (s *searching) outcome() Outcome {
	slices.SortFunc(s.found, func(a, b found) int { return strings.Compare(a.path, b.path) })
	slices.Sort(s.textual)
	slices.Sort(s.large)
	out := Outcome{Counts: make(map[string]int, len(s.found)), Mode: s.pattern.Mode().String()}
	if s.content || s.lines {
		out.Content = make(map[string]string, len(s.found))
	}
	asText := 0
	for _, f := range s.found {
		out.Files = append(out.Files, f.path)
		out.Counts[f.path] = f.count
		if out.Content != nil {
			out.Content[f.path] = f.content
		}
		if f.asText {
			asText++
		}
	}
	for _, name := range s.large {
		s.c.Warnf("%s: left out, larger than %d bytes", name, s.maxBytes)
	}
	// A pattern like f(x) is a regular expression, but most likely not meant as one.
	pattern := quoted(s.pattern.Source())
	if len(s.textual) > 0 {
		s.c.Warnf("pattern %s was read as a regular expression; as plain text it also occurs in %d files in which it does not match so, such as %s; set mode to say which is meant",
			pattern, len(s.textual), s.textual[0])
	} else if asText > 0 {
		s.c.Warnf("pattern %s was read as a regular expression, and occurs as plain text in %d of the files; set mode to say which is meant", pattern, asText)
	}
	return out
}
