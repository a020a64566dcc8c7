package match

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Groups as other programs write them in a replacement: \1, \g<1>, \g<name>, \k<name>, \g{1}.
var foreignGroup = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\\(?:([0-9])|[gk](?:<(\w+)>|\{(\w+)\}))`)
})

// foreignGroups looks for groups that are not written as Go writes them, which makes them text. Where the pattern has
// such a group and the replacement has none that is written right, that is an error. It is a doubt where it may have
// been meant.
func (t *Template) foreignGroups(text string, groups []string) *PatternError {
	right := slices.ContainsFunc(t.parts, func(p part) bool { return p.group >= 0 })
	find := foreignGroup()
	for rest := text; ; {
		at := find.FindStringSubmatchIndex(rest)
		if at == nil || right && t.doubt != "" {
			break
		}
		before, written, name := rest[:at[0]], rest[at[0]:at[1]], ""
		for i := 2; i < len(at); i += 2 {
			if at[i] >= 0 {
				name = rest[at[i]:at[i+1]]
			}
		}
		if rest = rest[at[1]:]; (len(before)-len(strings.TrimRight(before, `\`)))%2 == 1 {
			continue // the backslash is itself escaped, as people write it
		}
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
	if t.doubt == "" && !right && ampersand().MatchString(text) {
		t.doubt = fmt.Sprintf("& in replacement %q is text; the match is written $0", Short(text))
	}
	return nil
}

// ampersand is an & that may stand for the match, as sed has it, and not for what programs and HTML have it for: &&,
// &=, &name, &#39; or one between blanks.
var ampersand = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|[^&\\])&(?:[^\w&= \t\n#(*\[]|$)`)
})

// Doubt says what in the replacement may have been meant otherwise than it is read, "" if there is nothing.
func (t Template) Doubt() string { return t.doubt }
