package match

import (
	"context"
	"regexp/syntax"
)

// SetRoom limits the memory for the states of a pattern, before it is used.
func SetRoom(p *Pattern, bytes int) {
	if p.machine != nil {
		p.machine.room = bytes
	}
}

// HasMachine reports whether the pattern has an automaton.
func HasMachine(p *Pattern) bool { return p.machine != nil }

// Walking returns a pattern with the same matches, but without an automaton.
func Walking(p *Pattern) *Pattern {
	q, err := p.Compile()
	if err != nil {
		return p
	}
	q.machine = nil
	return q
}

// AnyEnd reports whether the pattern treats "\r\n" as one line end.
func AnyEnd(p *Pattern) bool { return p.anyEnd }

// Memory returns the bytes that the states take after several searches in data, and whether the automaton gave up.
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

// Needs returns the needed texts: each match contains at least one. A "~" marks a text that matches in any case.
func Needs(p *Pattern) []string { return sources(p.need) }

// Prefixes returns the possible beginnings of matches.
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

// ProgramSize returns the number of instructions in the program of a regular expression.
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

// Walks returns a pattern with the same matches, but without an automaton.
func Walks(p *Longest) *Longest {
	return &Longest{engine{prog: p.prog, alphabet: p.alphabet, need: p.need}}
}

// Cramped returns a pattern with the same matches, but with memory for almost no states.
func Cramped(p *Longest) *Longest {
	q := Walks(p)
	if p.machine != nil {
		m := *p.machine
		m.room = 1 << 10
		q.machine = &m
	}
	return q
}
