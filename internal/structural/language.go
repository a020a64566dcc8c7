package structural

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
)

// Language is a row of the table of languages: the lexical rules for the files of a kind.
type Language struct {
	name   string
	also   []string // other names
	ext    []string // of files, without the dot
	files  []string // whole names of files
	line   []string // begins of a comment that ends with the line
	apart  bool     // line comments only begin where no other text touches them
	block  [][2]string
	nested bool // comments between block can be nested
	quotes []quote
	words  string // characters of words, in addition to letters, digits, marks and "_"
	inner  string // characters of words that do not begin a word
	tags   bool   // "<" and ">" are a pair of brackets
	ends   ends
	// escapes: outside of strings, a "\" removes the meaning of a quote, of a mark of a comment, and of a "\".
	escapes bool
	// slashes: a "/" where a value may begin starts a regular expression.
	slashes bool
	// heredocs: "<<NAME" begins a text that ends with a line NAME.
	heredocs bool
	// percents: "%w(" and similar begin a literal.
	percents bool
	// fences: lines of "```" or "~~~" with the name of a language surround code of this language.
	fences bool
	// scripts: the elements script and style contain JavaScript and CSS.
	scripts bool
	// oneLine: a pair of brackets must be in one line.
	oneLine bool
}

// ends selects the line ends that end statements.
type ends uint8

const (
	endsNothing  ends = iota
	endsInBraces      // outside of ( and [, unless the statement continues
	endsOutside       // outside of all brackets, unless the statement continues
	endsAlways        // outside of all brackets
)

// quote is a kind of string.
type quote struct {
	open, close string
	escape      byte   // removes the meaning of the next character; 0 for none
	double      bool   // a doubled closing quote means the quote
	lines       bool   // it may contain line ends
	code        string // begins code up to "}" within the string, such as "${"
	prefix      string // letters that may precede it
	raw         string // letters of a prefix after which escape has no meaning
	hashes      bool   // as many "#" before the opening quote as after the closing one
	char        bool   // one character or one escape; otherwise the quote is an operator
	lineStart   bool   // it begins a line
}

// escaped reports whether a "\" outside of strings removes the meaning of a byte.
func (l *Language) escaped(c byte) bool {
	return l.escapes && (c == '\\' || slices.ContainsFunc(l.line, func(mark string) bool { return mark[0] == c }) ||
		slices.ContainsFunc(l.quotes, func(q quote) bool { return q.open[0] == c }))
}

// Name returns the name of the language, as in the parameter language.
func (l *Language) Name() string { return l.name }

// Named returns the language with a name such as "go" or "python". The error lists the names.
func Named(name string) (*Language, error) {
	lower := strings.ToLower(name)
	for i := range table {
		if l := table[i]; l.name == lower || slices.Contains(l.also, lower) {
			return l, nil
		}
	}
	return nil, fmt.Errorf("unknown language '%s' (known are %s)", name, strings.Join(Names(), ", "))
}

// Names returns the names of all languages, in order.
func Names() []string {
	var all []string
	for i := range table {
		all = append(all, table[i].name)
	}
	slices.SortFunc(all, cmp.Compare[string])
	return all
}

// LanguageOf returns the language of a file by its name. A file of an unknown kind is plain text.
func LanguageOf(file string) *Language {
	base := path.Base(file)
	for i := range table {
		if slices.Contains(table[i].files, base) {
			return table[i]
		}
	}
	if dot := strings.LastIndexByte(base, '.'); dot >= 0 {
		ext := strings.ToLower(base[dot+1:])
		for i := range table {
			if slices.Contains(table[i].ext, ext) {
				return table[i]
			}
		}
	}
	if strings.HasPrefix(base, "Dockerfile.") {
		return table[rowDockerfile]
	}
	return table[rowText]
}
