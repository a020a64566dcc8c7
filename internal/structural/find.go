package structural

import (
	"bytes"
	"context"
	"fmt"
)

const (
	// maxSteps is the largest number of steps of a pattern in one text, and maxCounted the same if the table of places
	// cannot be used.
	maxSteps   = 1 << 30
	maxCounted = 20_000_000
	// maxPlaces is the largest number of places in the table of one text, each of them a bit.
	maxPlaces = 1 << 31

	// freely is the largest text, in bytes, that the matchers of a pattern process in parallel. Only one matcher at a time
	// processes a larger text: it needs many times its size, and there may be as many matchers as processors.
	freely = 1 << 20
	// mostKept is the largest number of tokens for which a matcher without a text keeps memory.
	mostKept = 1 << 18
)

// StepsError means that a pattern takes too long in a text, or that the text is too long for it.
type StepsError struct {
	// Limit is the largest number of steps or, for a text that is too long, of bytes.
	Limit int64
	// Text means that the text is too long.
	Text bool
}

func (e *StepsError) Error() string {
	if e.Text {
		return fmt.Sprintf("text is too long for a structural pattern (max %d bytes)", e.Limit)
	}
	return fmt.Sprintf("structural pattern takes too long (max %d steps)", e.Limit)
}

// Find calls yield for each match, from left to right, until yield returns false. loc has the offsets at which the
// match and each group begin and end, -1 for a group that took no part; it is valid until yield returns. The name file
// selects the language. The error is from the context, or a *StepsError.
func (p *Pattern) Find(ctx context.Context, data []byte, file string, yield func(loc []int) bool) error {
	lang := p.lang
	if lang == nil {
		lang = LanguageOf(file)
	}
	prog, err := p.program(lang)
	switch {
	case err != nil:
		return nil // the pattern is not code of this language, so it matches nothing
	case len(data) > maxText:
		return &StepsError{Limit: maxText, Text: true}
	case prog.run != nil && !prog.run.mayBeIn(data, lang):
		return nil
	}
	if len(data) > freely {
		select {
		case p.long <- struct{}{}:
			defer func() { <-p.long }()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	m, ok := p.matchers.Get().(*matcher)
	if !ok {
		m = new(matcher)
	}
	defer p.put(m)
	// The text begins after a byte order mark.
	data, marked := bytes.CutPrefix(data, []byte("\ufeff"))
	tokens, err := m.lexer.lex(ctx, data, lang)
	if err != nil {
		return err
	}
	if int64(prog.holes)*int64(len(tokens)) > maxPlaces {
		return &StepsError{Limit: maxPlaces}
	}
	m.begin(ctx, p, prog, data, tokens)
	defer m.end()
	first := prog.items[0].begins(p.fold)
	for at := 0; at < len(tokens); {
		if first != 0 && data[tokens[at].start] != first {
			at++
			continue
		}
		end, err := m.at(at)
		switch {
		case err != nil:
			return err
		case end < 0:
			at++
			continue
		}
		for i := range m.loc {
			if marked && m.loc[i] >= 0 {
				m.loc[i] += len("\ufeff")
			}
		}
		if !yield(m.loc) {
			return nil
		}
		at = max(end, at+1)
	}
	return nil
}

// put keeps a matcher for the next text, without the memory of a long text.
func (p *Pattern) put(m *matcher) {
	if m.tokens = nil; cap(m.lexer.tokens) > mostKept {
		m.lexer.tokens, m.lexer.open, m.frames = nil, nil, nil
	}
	p.matchers.Put(m)
}
