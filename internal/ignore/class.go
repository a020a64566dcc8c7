package ignore

import "strings"

// byteSet has a bit for each byte.
type byteSet [256 / 32]uint32

func (s *byteSet) has(b byte) bool { return s[b/32]>>(b%32)&1 != 0 }

func (s *byteSet) addRange(from, to byte) {
	for b := int(from); b <= int(to); b++ {
		s[b/32] |= 1 << (b % 32)
	}
}

// classes are the ranges of each named class, two bytes per range. They are all ASCII, in every locale.
var classes = map[string]string{
	"alnum": "09AZaz", "alpha": "AZaz", "blank": "  \t\t", "cntrl": "\x00\x1f\x7f\x7f", "digit": "09", "graph": "!~",
	"lower": "az", "print": " ~", "punct": "!/:@[`{~", "upper": "AZ", "xdigit": "09AFaf",
	"space": "  \t\t\n\n\r\r", // as in git: no vertical tab, no form feed
}

// compileClass compiles the bracket expression that begins at pattern[at] and returns the index after it. It returns
// false where git rejects the whole pattern: the end is missing, or the [:name:] is unknown.
func compileClass(pattern string, at int) (set *byteSet, next int, ok bool) {
	set = &byteSet{}
	i := at + 1
	negated := i < len(pattern) && (pattern[i] == '!' || pattern[i] == '^')
	if negated {
		i++
	}
	// The low end of a range, if the previous element was a single byte. A "]" in the first place is an element.
	low := -1
	for first := true; i < len(pattern); first = false {
		switch c := pattern[i]; {
		case c == ']' && !first:
			if negated {
				for i := range set {
					set[i] = ^set[i]
				}
			}
			set['/'/32] &^= 1 << ('/' % 32)
			return set, i + 1, true
		case c == '-' && low >= 0 && i+1 < len(pattern) && pattern[i+1] != ']':
			if i = element(pattern, i+1); i == len(pattern) {
				return nil, 0, false
			}
			set.addRange(byte(low), pattern[i])
			low = -1
		case c == '[' && isNamed(pattern[i:]):
			name, _, _ := strings.Cut(pattern[i+2:], ":]")
			ranges, known := classes[name]
			if !known {
				return nil, 0, false
			}
			for ; ranges != ""; ranges = ranges[2:] {
				set.addRange(ranges[0], ranges[1])
			}
			i += len("[:") + len(name) + 1 // at the "]"
			low = -1
		default:
			if i = element(pattern, i); i == len(pattern) {
				return nil, 0, false
			}
			set.addRange(pattern[i], pattern[i])
			low = int(pattern[i])
		}
		i++
	}
	return nil, 0, false
}

// element returns the index of the byte of a class element, which can have a backslash before it.
func element(pattern string, i int) int {
	if pattern[i] == '\\' {
		i++
	}
	return i
}

// isNamed reports whether an expression is a named class, such as [:digit:], or has no end. Any other bracket is an
// ordinary byte.
func isNamed(pattern string) bool {
	name, isClass := strings.CutPrefix(pattern, "[:")
	if !isClass { // called for each bracket, so it is fast for those without a class
		return false
	}
	name, _, closed := strings.Cut(name, "]")
	return !closed || strings.HasSuffix(name, ":")
}
