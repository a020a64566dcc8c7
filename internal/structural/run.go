package structural

import "bytes"

// run is a sequence of texts that every match contains, with only layout and comments in between: a file without it is
// not cut into tokens.
type run struct {
	texts [][]byte
	rare  int // index of the longest word, which is searched
}

// runOf returns the longest sequence of fixed tokens with a word, nil if not found. If a part of a text may be in
// another language, nothing is known.
func (p *Pattern) runOf(items []item, lang *Language) *run {
	if p.fold || lang.fences || lang.scripts {
		return nil
	}
	var best *run
	most := 0
	for i := 0; i < len(items); i++ {
		now := &run{rare: -1}
		size := 0
		for ; i < len(items) && items[i].fixed(); i++ {
			it := &items[i]
			if it.kind == kindWord && (now.rare < 0 || len(it.text) > len(now.texts[now.rare])) {
				now.rare = len(now.texts)
			}
			now.texts = append(now.texts, it.text)
			size += len(it.text)
		}
		if now.rare >= 0 && size > most {
			best, most = now, size
		}
	}
	return best
}

// fixed reports whether an item matches only its text. A text may have a line end for a ";" in the pattern, and a ";"
// for a line end.
func (it *item) fixed() bool {
	return it.kind != kindHole && it.kind != kindComment && it.expr == nil && !it.line && it.text[0] != ';'
}

// begins returns the first byte of a match of an item, 0 if there are several.
func (it *item) begins(fold bool) byte {
	if fold || it.kind == kindHole || it.expr != nil {
		return 0
	}
	return it.text[0]
}

// mayBeIn returns false if data certainly does not contain the texts in a row. A comment may be any text.
func (r *run) mayBeIn(data []byte, lang *Language) bool {
	rare := r.texts[r.rare]
	for at := 0; ; {
		i := bytes.Index(data[at:], rare)
		if i < 0 {
			return false
		}
		at += i
		if r.before(data, at, lang) && r.behind(data, at+len(rare), lang) {
			return true
		}
		at += len(rare)
	}
}

// before reports whether the texts before the rare word may be before an offset.
func (r *run) before(data []byte, end int, lang *Language) bool {
	for i := r.rare - 1; i >= 0; i-- {
		for end > 0 && isLayout(data[end-1]) {
			if end--; data[end] == '\n' {
				return true // a comment may end there
			}
		}
		if end > 0 && lang.endsComment(data[end-1]) {
			return true
		}
		if !bytes.HasSuffix(data[:end], r.texts[i]) {
			return false
		}
		end -= len(r.texts[i])
	}
	return true
}

// behind reports whether the texts after the rare word may follow at an offset.
func (r *run) behind(data []byte, at int, lang *Language) bool {
	for _, text := range r.texts[r.rare+1:] {
		for at < len(data) && (isLayout(data[at]) || continues(data[at:]) > 0) {
			at++
		}
		if at < len(data) && lang.beginsComment(data[at]) {
			return true
		}
		if !bytes.HasPrefix(data[at:], text) {
			return false
		}
		at += len(text)
	}
	return true
}

func isLayout(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' }

// endsComment reports whether a comment between marks may end with a byte.
func (l *Language) endsComment(c byte) bool {
	for _, b := range l.block {
		if b[1][len(b[1])-1] == c {
			return true
		}
	}
	return false
}

// beginsComment reports whether a comment may begin with a byte.
func (l *Language) beginsComment(c byte) bool {
	for _, mark := range l.line {
		if mark[0] == c {
			return true
		}
	}
	for _, b := range l.block {
		if b[0][0] == c {
			return true
		}
	}
	return false
}
