package command

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode"
)

const (
	stars      = "***"
	minSecret  = 4 // least bytes of a secret to hide
	minOneLine = 8 // least bytes of a line of a secret to hide alone
)

// needle is a text to hide. next[n] is the length of the longest beginning of the text that ends its first n bytes.
type needle struct {
	text string
	next []int
}

// needles returns the texts that the policy hides, each once, the longest first.
func (p Policy) needles() []needle {
	texts := make(map[string]bool)
	for _, value := range p.Secrets {
		if len(value) < minSecret {
			continue
		}
		whole := strings.TrimFunc(value, unicode.IsSpace)
		if len(whole) < minSecret {
			whole = value
		}
		texts[whole] = true
		for _, text := range inJSON(whole) {
			texts[text] = true
		}
		if !strings.ContainsAny(whole, "\r\n") {
			continue
		}
		for line := range strings.FieldsFuncSeq(whole, func(r rune) bool { return r == '\r' || r == '\n' }) {
			if line = strings.TrimFunc(line, unicode.IsSpace); len(line) >= minOneLine {
				texts[line] = true
			}
		}
	}
	sorted := slices.SortedFunc(maps.Keys(texts), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b))
	})
	all := make([]needle, len(sorted))
	for i, text := range sorted {
		all[i] = needle{text: text, next: overlaps(text)}
	}
	return all
}

// inJSON returns the two common forms of a secret within JSON text.
func inJSON(secret string) []string {
	var all []string
	for _, html := range []bool{false, true} {
		var b strings.Builder
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(html)
		if err := enc.Encode(secret); err == nil {
			all = append(all, strings.TrimSuffix(strings.TrimPrefix(strings.TrimSuffix(b.String(), "\n"), `"`), `"`))
		}
	}
	return all
}

// overlaps returns the table of Knuth, Morris and Pratt.
func overlaps(text string) []int {
	next := make([]int, len(text)+1)
	for i, k := 1, 0; i < len(text); i++ {
		for k > 0 && text[i] != text[k] {
			k = next[k]
		}
		if text[i] == text[k] {
			k++
		}
		next[i+1] = k
	}
	return next
}

// Mask returns a text with *** in place of every secret of the policy. Secrets that overlap are one ***.
func (p Policy) Mask(text string) string { return mask(p.needles(), text) }

// Masker returns [Policy.Mask] for many texts: the needles are computed once. The function may be called from several
// goroutines.
func (p Policy) Masker() func(text string) string {
	needles := p.needles()
	return func(text string) string { return mask(needles, text) }
}

func mask(needles []needle, text string) string {
	if !slices.ContainsFunc(needles, func(n needle) bool { return strings.Contains(text, n.text) }) {
		return text
	}
	var b strings.Builder
	m := masker{needles: needles, out: func(piece []byte) { b.Write(piece) }}
	m.write([]byte(text))
	m.close()
	return b.String()
}

// masker hides secrets in a text that comes in pieces. It holds back only text that may be the beginning of a secret.
type masker struct {
	needles []needle
	out     func([]byte)

	at      []int  // the length of each needle's beginning at the end of the input
	pending []byte // input that is not passed on yet
	start   int64  // the start of pending in the whole text
	found   []span // of secrets not passed on as stars yet, sorted
	hidden  int64  // the end of the secrets passed on as stars
}

// span is a part of the text.
type span struct{ from, to int64 }

func (m *masker) write(p []byte) {
	if len(m.needles) == 0 {
		m.out(p)
		return
	}
	if m.at == nil {
		m.at = make([]int, len(m.needles))
	}
	before := m.start + int64(len(m.pending))
	m.pending = append(m.pending, p...)
	held := 0
	for i, n := range m.needles {
		m.at[i] = m.find(n, m.at[i], p, before)
		held = max(held, m.at[i])
	}
	slices.SortFunc(m.found, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	m.release(m.start + int64(len(m.pending)-held))
}

// find looks for a secret in the next bytes. k is the number of its bytes at the end of the input so far; the result is
// that number after p.
func (m *masker) find(n needle, k int, p []byte, before int64) int {
	for i := 0; i < len(p); i++ {
		if k == 0 {
			skip := bytes.IndexByte(p[i:], n.text[0])
			if skip < 0 {
				return 0
			}
			i += skip
		}
		for k > 0 && p[i] != n.text[k] {
			k = n.next[k]
		}
		if p[i] == n.text[k] {
			k++
		}
		if k == len(n.text) {
			end := before + int64(i) + 1
			m.found = append(m.found, span{end - int64(len(n.text)), end})
			k = n.next[k]
		}
	}
	return k
}

// release passes on everything before a place.
func (m *masker) release(limit int64) {
	at, used := m.start, 0
	for _, s := range m.found {
		if s.from >= limit {
			break
		}
		used++
		if s.from < m.hidden { // shares one *** with the secret before it
			m.hidden = max(m.hidden, s.to)
			continue
		}
		m.plain(max(at, m.hidden), s.from)
		m.out([]byte(stars))
		m.hidden = s.to
	}
	m.found = slices.Delete(m.found, 0, used)
	m.plain(max(at, m.hidden), limit)
	m.pending = slices.Delete(m.pending, 0, int(limit-m.start))
	m.start = limit
}

// plain passes on a part of pending unchanged.
func (m *masker) plain(from, to int64) {
	if from < to {
		m.out(m.pending[from-m.start : to-m.start])
	}
}

// close passes on the text that was held back.
func (m *masker) close() { m.release(m.start + int64(len(m.pending))) }
