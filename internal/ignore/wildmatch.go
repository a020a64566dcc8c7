package ignore

import "strings"

// opKind is the kind of one step of a glob.
type opKind uint8

const (
	opLiteral opKind = iota // the bytes of text
	opAny                   // len(text) bytes, none of them a slash
	opClass                 // one byte of set, which never contains the slash
	opStar                  // any bytes but slashes
	opDeep                  // any bytes
	opDirs                  // nothing, or any bytes that end in a slash
)

type op struct {
	kind opKind
	text string
	set  *byteSet
}

// glob is a compiled pattern. It works on bytes, as git does: "?" is one byte, not one character.
type glob []op

// compileGlob compiles a pattern. If path is set, stars stop at slashes, except "**" between slashes or at an end of
// the pattern. It returns false if the pattern is malformed, which makes it match nothing.
func compileGlob(pattern string, path bool) (glob, bool) {
	var g glob
	var literal []byte
	flush := func() {
		if len(literal) > 0 {
			g = append(g, op{kind: opLiteral, text: string(literal)})
			literal = literal[:0]
		}
	}
	for i := 0; i < len(pattern); {
		switch pattern[i] {
		case '\\':
			if i+1 == len(pattern) {
				return g, false
			}
			literal = append(literal, pattern[i+1])
			i += 2
		case '?':
			flush()
			rest := strings.TrimLeft(pattern[i:], "?")
			g = append(g, op{kind: opAny, text: pattern[i : len(pattern)-len(rest)]})
			i = len(pattern) - len(rest)
		case '[':
			set, next, ok := compileClass(pattern, i)
			if !ok {
				return g, false
			}
			flush()
			g = append(g, op{kind: opClass, set: set})
			i = next
		case '*':
			flush()
			begin := i
			for i < len(pattern) && pattern[i] == '*' {
				i++
			}
			kind := opStar
			if path && i-begin >= 2 && (begin == 0 || pattern[begin-1] == '/') {
				switch rest := pattern[i:]; {
				case strings.HasPrefix(rest, "/"):
					kind = opDirs
					i++
				case rest == "" || strings.HasPrefix(rest, `\/`):
					kind = opDeep
				}
			}
			g = append(g, op{kind: kind})
		default:
			literal = append(literal, pattern[i])
			i++
		}
	}
	flush()
	return g, true
}

// match reports whether the glob matches the whole of s.
//
// When a step fails, the last "*" matches one more byte, or if it cannot, the last "**" does. No older star needs
// another try: the later one was reached as early as possible, and it can reach anything that an older one could.
// (Between two "*" without a "**" the number of slashes is fixed, so moving the first never brings the second into
// another directory.) That keeps the work polynomial, while trying every star is exponential.
func (g glob) match(s string) bool {
	i, p := 0, 0
	star, starAt := -1, 0 // the step after the last "*", and the end of its match
	deep, deepAt := -1, 0 // the same for the last "**"
	for {
		takes := -1 // the number of bytes that the step matches, -1 if it fails
		switch {
		case p == len(g):
			if i == len(s) {
				return true
			}
		case g[p].kind == opLiteral:
			if strings.HasPrefix(s[i:], g[p].text) {
				takes = len(g[p].text)
			}
		case g[p].kind == opAny:
			if n := len(g[p].text); len(s)-i >= n && strings.IndexByte(s[i:i+n], '/') < 0 {
				takes = n
			}
		case g[p].kind == opClass:
			if i < len(s) && g[p].set.has(s[i]) {
				takes = 1
			}
		case g[p].kind == opStar && p+1 == len(g):
			if strings.IndexByte(s[i:], '/') < 0 {
				return true
			}
			star = -1
		case g[p].kind == opStar:
			star, starAt, takes = p+1, i, 0
		case g[p].kind == opDeep && p+1 == len(g):
			return true
		default:
			deep, deepAt, star, takes = p+1, i, -1, 0
		}
		switch {
		case takes >= 0:
			i += takes
			p++
		case star >= 0 && starAt < len(s) && s[starAt] != '/':
			starAt++
			i, p = starAt, star
		case deep >= 0:
			if g[deep-1].kind == opDirs {
				slash := strings.IndexByte(s[deepAt:], '/')
				if slash < 0 {
					return false
				}
				deepAt += slash
			}
			if deepAt == len(s) {
				return false
			}
			deepAt++
			i, p, star = deepAt, deep, -1
		default:
			return false
		}
	}
}
