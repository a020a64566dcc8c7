package command

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"
)

// pattern is an entry of Allow. Its first word is the program.
type pattern struct {
	words []glob
	more  bool // any further words
}

// glob is a word of a pattern: pieces of fixed text with any text between them.
type glob []string

// matchAny reports whether an entry has this program, and whether an entry matches the whole line.
func matchAny(patterns []pattern, words []string) (program, line bool) {
	for _, p := range patterns {
		if len(p.words) == 0 || !p.words[0].program(words[0]) {
			continue
		}
		program = true
		if p.takes(words) {
			return true, true
		}
	}
	return program, false
}

func (p pattern) takes(words []string) bool {
	if len(words) < len(p.words) || len(words) > len(p.words) && !p.more {
		return false
	}
	for i, g := range p.words[1:] {
		if !g.match(words[i+1]) {
			return false
		}
	}
	return true
}

// program is match for a program: the text for a * has no slash.
func (g glob) program(name string) bool {
	if len(g) == 1 {
		return g[0] == name
	}
	// A program has as many slashes as its pattern, so the path elements are matched one by one.
	parts, names := g.split(), strings.Split(name, "/")
	if len(parts) != len(names) {
		return false
	}
	for i := range parts {
		if !parts[i].match(names[i]) {
			return false
		}
	}
	return true
}

// split splits a word at its slashes.
func (g glob) split() []glob {
	parts := []glob{nil}
	for _, piece := range g {
		for i, text := range strings.Split(piece, "/") {
			if i > 0 {
				parts = append(parts, nil)
			}
			last := len(parts) - 1
			parts[last] = append(parts[last], text)
		}
	}
	return parts
}

// match reports whether a word consists of the pieces with any text between them. It takes linear time, because each
// piece is searched after the piece before.
func (g glob) match(word string) bool {
	if len(g) == 1 {
		return g[0] == word
	}
	first, last := g[0], g[len(g)-1]
	if len(word) < len(first)+len(last) || !strings.HasPrefix(word, first) || !strings.HasSuffix(word, last) {
		return false
	}
	word = word[len(first) : len(word)-len(last)]
	for _, piece := range g[1 : len(g)-1] {
		i := strings.Index(word, piece)
		if i < 0 {
			return false
		}
		word = word[i+len(piece):]
	}
	return true
}

// parse reads an entry of Allow.
func parse(text string) (pattern, error) {
	var p pattern
	for rest := strings.TrimLeft(text, blanks); rest != ""; rest = strings.TrimLeft(rest, blanks) {
		var g glob
		var star bool
		var err error
		if g, star, rest, err = word(rest); err != nil {
			return pattern{}, err
		}
		if star && rest == "" {
			p.more = true
			if len(p.words) > 0 {
				break
			}
		}
		p.words = append(p.words, g)
	}
	if len(p.words) == 0 {
		return pattern{}, errors.New("it is empty")
	}
	return p, p.words[0].isProgram()
}

const blanks = " \t\r\n"

// word reads one word and returns the rest. star means that the word is a single *.
func word(text string) (g glob, star bool, rest string, err error) {
	var piece strings.Builder
	i := 0
	for i < len(text) && !strings.ContainsRune(blanks, rune(text[i])) {
		switch text[i] {
		case '*':
			g = append(g, piece.String())
			piece.Reset()
			i++
		case '\'':
			literal, n, ok := quoted(text[i:])
			if !ok {
				return nil, false, "", errors.New("a ' is not closed")
			}
			piece.WriteString(literal)
			i += n
		default:
			piece.WriteByte(text[i])
			i++
		}
	}
	return append(g, piece.String()), text[:i] == "*", text[i:], nil
}

// quoted reads the text between two ', and returns its length with them.
func quoted(text string) (literal string, n int, ok bool) {
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] != '\'':
			b.WriteByte(text[i])
		case strings.HasPrefix(text[i:], "''"):
			b.WriteByte('\'')
			i++
		default:
			return b.String(), i + 1, true
		}
	}
	return "", 0, false
}

// isProgram returns the reason why a word cannot be a program.
func (g glob) isProgram() error {
	name := strings.Join(g, "*")
	switch err := spelled(name); {
	case err != nil:
		return err
	case strings.ContainsRune(name, 0):
		return errors.New("it has a NUL byte")
	}
	return nil
}

// spelled returns the reason why a program cannot be written like that: it must be a name, ./x, or an absolute path,
// without .. and doubled slashes.
func spelled(name string) error {
	slashed := filepath.ToSlash(name)
	rest, inTree := strings.CutPrefix(slashed, "./")
	switch {
	case name == "":
		return errors.New("the program has no name")
	case name == "." || name == "..":
		return fmt.Errorf("'%s' is a directory", name)
	case inTree && (rest == "" || path.Clean("/"+rest) != "/"+rest):
		return fmt.Errorf("the program '%s' is not written as ./dir/name", name)
	case inTree:
		return nil
	case filepath.IsAbs(name):
		if filepath.Clean(name) != name {
			return fmt.Errorf("the program '%s' is not written as it is: %s", name, filepath.Clean(name))
		}
		return nil
	case strings.Contains(slashed, "/"):
		return fmt.Errorf("the program '%s' is neither a name nor an absolute path; a file of the tree is written ./%s",
			name,
			slashed)
	}
	return nil
}

// Pattern returns the entry of a policy's Allow that allows exactly this command line.
func Pattern(words ...string) string {
	quotedWords := make([]string, len(words))
	for i, w := range words {
		if w == "" || strings.ContainsAny(w, blanks+"*'") {
			w = "'" + strings.ReplaceAll(w, "'", "''") + "'"
		}
		quotedWords[i] = w
	}
	return strings.Join(quotedWords, " ")
}

// patterns reads Allow.
func (p Policy) patterns() ([]pattern, error) {
	var all []pattern
	for i, text := range p.Allow {
		entry, err := parse(text)
		if err != nil {
			return nil, fmt.Errorf("command policy: Allow[%d] '%s': %w", i, text, err)
		}
		all = append(all, entry)
	}
	return all, nil
}
