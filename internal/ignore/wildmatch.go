package ignore

import "strings"

// opKind is what one step of a glob matches.
type opKind uint8

const (
	opLiteral opKind = iota // the bytes of text
	opAny                   // one byte but a slash
	opClass                 // one byte of set, which never holds the slash
	opStar                  // any bytes but slashes
	opDeep                  // any bytes
	opDirs                  // nothing, or any bytes that end in a slash
)

type op struct {
	kind opKind
	text string
	set  *byteSet
}

// glob is a compiled pattern. It works on bytes, as git does: "?" is one byte and not one character.
type glob struct{ ops []op }

// compileGlob compiles a pattern. In one about paths, stars stop at slashes, and "**" between slashes, or at an end of
// the pattern, does not. It returns false if the pattern is malformed, which makes it match nothing.
func compileGlob(pattern string, path bool) (glob, bool) {
	var g glob
	var literal []byte
	flush := func() {
		if len(literal) > 0 {
			g.ops = append(g.ops, op{kind: opLiteral, text: string(literal)})
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
			g.ops = append(g.ops, op{kind: opAny})
			i++
		case '[':
			set, next, ok := compileClass(pattern, i)
			if !ok {
				return g, false
			}
			flush()
			g.ops = append(g.ops, op{kind: opClass, set: set})
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
			g.ops = append(g.ops, op{kind: kind})
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
// When a step fails, the last "*" takes one byte more, and if it cannot, the last "**" does. No older star needs to
// be tried again: the later one was reached as early as possible, and whatever an older one could still offer lies
// within its reach. (Between two "*" without a "**" the number of slashes is fixed, so moving the first never brings
// the second into another directory.) That keeps the work polynomial, where trying every star is exponential.
func (g *glob) match(s string) bool {
	ops := g.ops
	i, p := 0, 0
	star, starAt := -1, 0 // the step after the last "*", and where what it matches ends
	deep, deepAt := -1, 0 // the same for the last "**"
	for {
		if p == len(ops) {
			if i == len(s) {
				return true
			}
		} else {
			o := &ops[p]
			switch o.kind {
			case opLiteral:
				if strings.HasPrefix(s[i:], o.text) {
					i += len(o.text)
					p++
					continue
				}
			case opAny:
				if i < len(s) && s[i] != '/' {
					i++
					p++
					continue
				}
			case opClass:
				if i < len(s) && o.set.has(s[i]) {
					i++
					p++
					continue
				}
			case opStar:
				p++
				star, starAt = p, i
				if p < len(ops) {
					continue
				}
				if strings.IndexByte(s[i:], '/') < 0 {
					return true
				}
				star = -1
			case opDeep, opDirs:
				p++
				if o.kind == opDeep && p == len(ops) {
					return true
				}
				deep, deepAt, star = p, i, -1
				continue
			}
		}
		switch {
		case star >= 0 && starAt < len(s) && s[starAt] != '/':
			starAt++
			i, p = starAt, star
		case deep >= 0:
			if ops[deep-1].kind == opDirs {
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
