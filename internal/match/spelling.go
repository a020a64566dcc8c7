package match

import (
	"fmt"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/internal/show"
)

// foreignGroup returns the name of a group in the syntax of other programs after a backslash, 1, g<1>, g<name>,
// k<name>, g{1}, and the length of that syntax. length is 0 if s has no such group.
func foreignGroup(s string) (name string, length int) {
	switch {
	case s == "":
		return "", 0
	case '0' <= s[0] && s[0] <= '9':
		return s[:1], 1
	case len(s) < 2 || s[0] != 'g' && s[0] != 'k' || s[1] != '<' && s[1] != '{':
		return "", 0
	}
	end := 2
	for end < len(s) && isNameByte(s[end]) {
		end++
	}
	if end == 2 || end == len(s) || s[end] != s[1]+2 { // < and >, { and }
		return "", 0
	}
	return s[2:end], end + 1
}

// doubtAmpersand records an & that may have been meant for the match, if the replacement has no group.
func (t *templateParser) doubtAmpersand() {
	right := slices.ContainsFunc(t.parts, func(p part) bool { return p.group >= 0 })
	if !right && hasAmpersand(t.source) {
		t.doubt = fmt.Sprintf("& in replacement %q is text; the match is written $0", show.Pattern(t.source))
	}
}

// hasAmpersand reports whether there is an & that may mean the match, as in sed, and not &&, &=, &name, &#39; or an &
// between blanks, as in programs and HTML.
func hasAmpersand(text string) bool {
	before := byte(0)
	for {
		left, rest, found := strings.Cut(text, "&")
		if !found {
			return false
		}
		if left != "" {
			before = left[len(left)-1]
		}
		alone := before != '&' && before != '\\'
		if alone && (rest == "" || !isNameByte(rest[0]) && strings.IndexByte("&= \t\n#(*[", rest[0]) < 0) {
			return true
		}
		text, before = rest, '&'
	}
}

// Doubt returns a note about a part of the replacement that may have another intended meaning, "" without doubt.
func (t Template) Doubt() string { return t.doubt }
