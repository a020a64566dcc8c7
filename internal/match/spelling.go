package match

import (
	"fmt"
	"slices"
	"strings"
)

// foreignGroup returns the name of a group as other programs write it behind a backslash, 1, g<1>, g<name>, k<name>, g{1},
// and how long that is. length is 0 if there is none.
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

// foreignGroups looks for groups that are not written as Go writes them, which makes them text. Where the pattern has
// such a group and the replacement has none that is written right, that is an error. It is a doubt where it may have
// been meant.
func (t *Template) foreignGroups(text string, groups []string) *PatternError {
	right := slices.ContainsFunc(t.parts, func(p part) bool { return p.group >= 0 })
	for rest := text; !right || t.doubt == ""; {
		_, behind, found := strings.Cut(rest, `\`)
		if !found {
			break
		}
		rest = strings.TrimLeft(behind, `\`)
		name, length := foreignGroup(rest)
		if length == 0 || (len(behind)-len(rest))%2 == 1 {
			continue // that backslash is itself escaped, as people write it
		}
		written := `\` + rest[:length]
		goes := "${" + name + "}"
		_, known := groupNumber(name, groups)
		if known && name != "0" && !right {
			return refused(text,
				"write "+goes+" for the group; if "+written+" is meant as text, make the groups of the pattern (?:...)",
				"replacement %q: %s is no group here, but text", Short(text), written)
		}
		if t.doubt == "" && (known || name != "0") {
			t.doubt = fmt.Sprintf("%s in replacement %q is text; a group is written %s", written, Short(text), goes)
		}
	}
	if t.doubt == "" && !right && hasAmpersand(text) {
		t.doubt = fmt.Sprintf("& in replacement %q is text; the match is written $0", Short(text))
	}
	return nil
}

// hasAmpersand reports whether there is an & that may stand for the match, as sed has it, and not for what programs and
// HTML have it for: &&, &=, &name, &#39; or one between blanks.
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

// Doubt says what in the replacement may have been meant otherwise than it is read, "" if there is nothing.
func (t Template) Doubt() string { return t.doubt }
