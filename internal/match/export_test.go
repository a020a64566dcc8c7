package match

import (
	"context"
	"regexp/syntax"
)

// SetRoom bounds the memory of the states that are kept for a pattern, before it is used.
func SetRoom(p *Pattern, bytes int) {
	if p.machine != nil {
		p.machine.room = bytes
	}
}

// HasMachine reports whether there is an automaton for the pattern.
func HasMachine(p *Pattern) bool { return p.machine != nil }

// Walking returns a pattern that matches the same without an automaton.
func Walking(p *Pattern) *Pattern {
	q, err := p.Compile()
	if err != nil {
		return p
	}
	q.machine = nil
	return q
}

// AnyEnd reports whether the pattern takes "\r\n" for one line end.
func AnyEnd(p *Pattern) bool { return p.anyEnd }

// Memory returns how many bytes the states take after several searches in data, and whether that was given up.
func Memory(p *Pattern, data []byte) (bytes int, gaveUp bool) {
	d := newDFA(p.machine)
	d.ctx = context.Background()
	for range 5 {
		_, ok := d.contains(data, false)
		gaveUp = gaveUp || !ok
		bytes = max(bytes, d.bytes)
		_, ok = d.find(data, 0)
		gaveUp = gaveUp || !ok
		bytes = max(bytes, d.bytes)
	}
	return bytes, gaveUp
}

// Needs returns the texts of which each match contains one, those in any case with a "~" in front.
func Needs(p *Pattern) []string { return sources(p.need) }

// Prefixes returns the texts of which each match begins with one.
func Prefixes(p *Pattern) []string {
	if p.machine == nil {
		return nil
	}
	return sources(p.machine.prefix)
}

func sources(of []*finder) (all []string) {
	for _, f := range of {
		text := string(f.text)
		if f.fold {
			text = "~" + text
		}
		all = append(all, text)
	}
	return all
}

// ProgramSize returns how many instructions the program of a regular expression has.
func ProgramSize(pattern string) int {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 0
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return 0
	}
	return len(prog.Inst)
}

// Walks returns a pattern that matches the same without an automaton.
func Walks(p *Longest) *Longest {
	return &Longest{engine{prog: p.prog, alphabet: p.alphabet, need: p.need}}
}

// Cramped returns a pattern that matches the same with room for hardly any state.
func Cramped(p *Longest) *Longest {
	q := Walks(p)
	if p.machine != nil {
		m := *p.machine
		m.room = 1 << 10
		q.machine = &m
	}
	return q
}
