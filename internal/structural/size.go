package structural

import "regexp/syntax"

// MaxInstructions limits the program of an expression, and the programs of all holes together, in instructions.
const MaxInstructions = 100_000

// Instructions estimates the length of the program of a regular expression, without making it.
func Instructions(re *syntax.Regexp) int {
	subs := 0
	for _, sub := range re.Sub {
		subs += Instructions(sub)
	}
	n := 1 + subs
	switch re.Op {
	case syntax.OpLiteral:
		n = len(re.Rune)
	case syntax.OpCapture:
		n = 2 + subs
	case syntax.OpConcat:
		n = subs
	case syntax.OpAlternate:
		n = subs + len(re.Sub)
	case syntax.OpRepeat:
		n = 1 + max(re.Min, 1)*subs
		if re.Max > 0 {
			n = 1 + re.Min*subs + (re.Max-re.Min)*(subs+1)
		}
	}
	return min(n, 1<<30)
}

// Size returns roughly how many instructions the programs of the expressions in holes have.
func (p *Pattern) Size() int { return p.size }
