package ignore

import "strings"

// byteSet is a set of bytes.
type byteSet [4]uint64

func (s *byteSet) has(b byte) bool { return s[b>>6]&(1<<(b&63)) != 0 }

func (s *byteSet) add(b byte) { s[b>>6] |= 1 << (b & 63) }

func (s *byteSet) remove(b byte) { s[b>>6] &^= 1 << (b & 63) }

func (s *byteSet) addRange(from, to byte) {
	for b := int(from); b <= int(to); b++ {
		s.add(byte(b))
	}
}

// compileClass compiles the bracket expression that begins at pattern[at] and returns the index after it. It returns
// false where git gives up on the whole pattern: no end, or a [:name:] that there is not.
func compileClass(pattern string, at int) (set *byteSet, next int, ok bool) {
	set = &byteSet{}
	i := at + 1
	negated := i < len(pattern) && (pattern[i] == '!' || pattern[i] == '^')
	if negated {
		i++
	}
	// The low end of a range, if the element before was a single byte. A "]" in the first place is an element.
	low := -1
	for first := true; ; first = false {
		if i >= len(pattern) {
			return nil, 0, false
		}
		c := pattern[i]
		switch {
		case c == ']' && !first:
			if negated {
				for w := range set {
					set[w] = ^set[w]
				}
			}
			set.remove('/')
			return set, i + 1, true
		case c == '\\':
			if i++; i == len(pattern) {
				return nil, 0, false
			}
			set.add(pattern[i])
			low = int(pattern[i])
		case c == '-' && low >= 0 && i+1 < len(pattern) && pattern[i+1] != ']':
			i++
			if pattern[i] == '\\' {
				if i++; i == len(pattern) {
					return nil, 0, false
				}
			}
			set.addRange(byte(low), pattern[i])
			low = -1
		case c == '[' && strings.HasPrefix(pattern[i+1:], ":"):
			length := strings.IndexByte(pattern[i+2:], ']')
			if length < 0 {
				return nil, 0, false
			}
			if name := pattern[i+2 : i+2+length]; strings.HasSuffix(name, ":") {
				if !set.addNamed(name[:len(name)-1]) {
					return nil, 0, false
				}
				i += 2 + length
				low = -1
			} else { // no ":]", so this is a bracket like any other byte
				set.add('[')
				low = '['
			}
		default:
			set.add(c)
			low = int(c)
		}
		i++
	}
}

// addNamed adds the bytes of a class such as "digit". They are all ASCII, whatever the locale.
func (s *byteSet) addNamed(name string) bool {
	switch name {
	case "alnum":
		s.addRange('0', '9')
		s.addRange('A', 'Z')
		s.addRange('a', 'z')
	case "alpha":
		s.addRange('A', 'Z')
		s.addRange('a', 'z')
	case "blank":
		s.add(' ')
		s.add('\t')
	case "cntrl":
		s.addRange(0, 0x1f)
		s.add(0x7f)
	case "digit":
		s.addRange('0', '9')
	case "graph":
		s.addRange('!', '~')
	case "lower":
		s.addRange('a', 'z')
	case "print":
		s.addRange(' ', '~')
	case "punct":
		s.addRange('!', '/')
		s.addRange(':', '@')
		s.addRange('[', '`')
		s.addRange('{', '~')
	case "space": // git's own: no vertical tab, no form feed
		s.add(' ')
		s.add('\t')
		s.add('\n')
		s.add('\r')
	case "upper":
		s.addRange('A', 'Z')
	case "xdigit":
		s.addRange('0', '9')
		s.addRange('A', 'F')
		s.addRange('a', 'f')
	default:
		return false
	}
	return true
}
