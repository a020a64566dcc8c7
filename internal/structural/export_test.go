package structural

import "context"

// Token is a token of a text as the tests see it.
type Token struct {
	Start, End         int
	Kind               string
	Pair               int
	Line, Ends, Closes bool
	Next               int
}

// Lex cuts a text into tokens.
func Lex(data []byte, lang *Language) ([]Token, error) {
	var l lexer
	tokens, err := l.lex(context.Background(), data, lang)
	all := make([]Token, len(tokens))
	kinds := [...]string{"word", "operator", "string", "comment", "open", "close", "broken", "hole"}
	for i, t := range tokens {
		all[i] = Token{int(t.start), int(t.end), kinds[t.kind], int(t.pair), t.line, t.ends, t.closes, int(t.next)}
	}
	return all, err
}
