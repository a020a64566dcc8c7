package interpolate

import (
	"regexp"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/internal/sed"
	"github.com/millrace-go/millrace/internal/template"
)

// expandScript replaces the templates of a sed script by their values. special are the characters with a meaning in its
// patterns. posix means that a backslash does not quote between brackets.
func expandScript(text template.Text, values template.Values, special string, posix bool) (string, error) {
	places, err := placesOf(text, values)
	if err != nil {
		return "", err
	}
	n := -1
	return text.ExpandQuoted(values, func(v string) string {
		n++
		place := elsewhere
		if n < len(places) {
			place = places[n]
		}
		if place == inBrackets && posix {
			return inBracketsQuoted.Replace(v)
		}
		v = sedQuoted(v, text.Source(), special)
		if place == beginsText && strings.IndexAny(v, "\\ \t") == 0 {
			return `\` + v // sed drops leading blanks and one backslash there
		}
		return v
	})
}

// plainWord matches values that mean the same anywhere in a script.
var plainWord = regexp.MustCompile(`^[0-9A-Za-z]+$`)

// inBracketsQuoted quotes a value between brackets, where a backslash does not quote and the separator is an ordinary
// character.
var inBracketsQuoted = strings.NewReplacer("[", "[.[.]", "]", "[.].]", "-", "[.-.]", "^", "[.^.]", `\`, `[.\.]`,
	"\n", `\n`)

// scriptPlace is the place of a value in a script.
type scriptPlace uint8

const (
	elsewhere scriptPlace = iota
	beginsText
	inBrackets
)

// placesOf returns the place of each quoted value.
func placesOf(text template.Text, values template.Values) ([]scriptPlace, error) {
	const mark = "\x00" // before each value
	n := 0
	marked, err := text.ExpandQuoted(values, func(v string) string {
		n++
		if !plainWord.MatchString(v) {
			v = "x"
		}
		return mark + v
	})
	if err != nil || strings.Count(marked, mark) != n { // a script that contains NULs gets no places
		return nil, err
	}
	found := sed.PlacesOf(strings.ReplaceAll(marked, mark, ""))
	places := make([]scriptPlace, 0, n)
	at, brackets := 0, found.Brackets
	for piece := range strings.SplitSeq(marked, mark) {
		if at += len(piece); len(places) == n {
			break
		}
		for len(brackets) > 0 && brackets[0][1] <= at {
			brackets = brackets[1:]
		}
		place := elsewhere
		if _, begins := slices.BinarySearch(found.Texts, at); begins {
			place = beginsText
		} else if len(brackets) > 0 && brackets[0][0] <= at {
			place = inBrackets
		}
		places = append(places, place)
	}
	return places, nil
}

// sedQuoted quotes a value for both halves of an s command, whose separator is the character after the first "s" of the
// script.
func sedQuoted(value, source, special string) string {
	separator := "/"
	if i := strings.IndexByte(source, 's'); i >= 0 && i+1 < len(source) &&
		strings.Contains(`!"#%',-:;<=>@_~`+"`", source[i+1:i+2]) {
		separator = source[i+1 : i+2]
	}
	var b strings.Builder
	for i := range len(value) {
		c := value[i : i+1]
		switch {
		case c == "\n":
			c = `\n`
		case strings.Contains(special, c) || c == separator:
			c = `\` + c
		}
		b.WriteString(c)
	}
	return b.String()
}
