package structural

import "context"

// Token is a token of a text in the form that the tests use.
type Token struct {
	Start, End         int
	Kind               string
	Pair               int
	Line, Ends, Closes bool
	Next               int
}

// Lex splits a text into tokens.
func Lex(data []byte, lang *Language) ([]Token, error) {
	return lexWith(new(lexer), data, lang)
}

func lexWith(l *lexer, data []byte, lang *Language) ([]Token, error) {
	tokens, err := l.lex(context.Background(), data, lang)
	all := make([]Token, len(tokens))
	kinds := [...]string{"word", "operator", "string", "comment", "open", "close", "broken", "hole"}
	for i, t := range tokens {
		all[i] = Token{int(t.start), int(t.end), kinds[t.kind], int(t.pair), t.line, t.ends, t.closes, int(t.next)}
	}
	return all, err
}

// LexSlowly is Lex without the table of first bytes.
func LexSlowly(data []byte, lang *Language) ([]Token, error) {
	var l lexer
	l.known = make(map[*Language]*beginnings)
	for _, all := range table {
		l.known[all] = &beginnings{}
	}
	return lexWith(&l, data, lang)
}

// Everywhere makes a pattern also search texts that do not contain its fixed tokens in a row.
func (p *Pattern) Everywhere() {
	p.programs.Range(func(_, of any) bool {
		if prog := of.(compiled).prog; prog != nil {
			prog.run = nil
		}
		return true
	})
}

// Prepare makes the program of a pattern for a language, and reports whether its fixed tokens are searched first.
func (p *Pattern) Prepare(lang *Language) (runs bool, err error) {
	prog, err := p.program(lang)
	return err == nil && prog.run != nil, err
}

// Lost returns how many bytes of a text were searched for ends in vain, or again and again.
func Lost(ctx context.Context, data []byte, lang *Language) (int, error) {
	var l lexer
	_, err := l.lex(ctx, data, lang)
	return l.lost, err
}

// Kept returns the number of tokens for which the pattern keeps memory.
func (p *Pattern) Kept() int {
	m, ok := p.matchers.Get().(*matcher)
	if !ok {
		return 0
	}
	return max(cap(m.lexer.tokens), cap(m.tokens))
}
