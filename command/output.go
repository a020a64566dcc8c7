package command

import "unicode/utf8"

// maxPiece is the most bytes of text in one call of OnOutput.
const maxPiece = 32 << 10

// stream receives the output of a command on one stream: it hides secrets, repairs UTF-8, reports the text, and keeps
// its beginning and its end. It is used by one goroutine.
type stream struct {
	mask masker
	tell func(text string) // nil, or a function that receives the text
	rest []byte            // the beginning of a rune

	head, tail []byte
	most       int64 // bytes of head, a quarter of the kept bytes
	mostTail   int64
	size       int64 // bytes printed
	kept       int64 // bytes of text for head and tail
	dropped    bool
}

func newStream(needles []needle, keep int64, tell func(string)) *stream {
	s := &stream{tell: tell, most: keep / 4, mostTail: keep - keep/4}
	s.mask = masker{needles: needles, out: s.masked}
	return s
}

// write adds printed bytes.
func (s *stream) write(p []byte) {
	s.size += int64(len(p))
	s.mask.write(p)
}

// drop counts printed bytes without keeping them.
func (s *stream) drop(p []byte) { s.size += int64(len(p)); s.dropped = true }

// masked adds text without secrets. It passes on whole runes only.
func (s *stream) masked(p []byte) {
	if len(s.rest) > 0 {
		p = append(s.rest, p...)
		s.rest = nil
	}
	n := len(p) - unfinished(p)
	s.rest = append([]byte(nil), p[n:]...)
	s.text(p[:n])
}

// unfinished returns the number of bytes at the end that begin an incomplete rune.
func unfinished(p []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(p); n++ {
		if tail := p[len(p)-n:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				return n
			}
			return 0
		}
	}
	return 0
}

// text adds text of whole runes, some of them perhaps invalid.
func (s *stream) text(p []byte) {
	for len(p) > 0 {
		piece := p[:min(len(p), maxPiece)]
		if n := unfinished(piece); n < len(piece) && len(piece) < len(p) {
			piece = piece[:len(piece)-n]
		}
		p = p[len(piece):]
		if utf8.Valid(piece) {
			s.add(piece)
			continue
		}
		fixed := repaired(piece)
		for len(fixed) > 0 { // repairing has made it longer
			n := min(len(fixed), maxPiece)
			for n < len(fixed) && !utf8.RuneStart(fixed[n]) {
				n--
			}
			s.add(fixed[:n])
			fixed = fixed[n:]
		}
	}
}

// repaired returns a text with U+FFFD for each byte that is not UTF-8.
func repaired(p []byte) []byte {
	fixed := make([]byte, 0, len(p)+len(p)/2)
	for len(p) > 0 {
		r, n := utf8.DecodeRune(p)
		fixed = utf8.AppendRune(fixed, r)
		p = p[n:]
	}
	return fixed
}

// add reports and keeps a piece of output.
func (s *stream) add(p []byte) {
	if s.tell != nil {
		s.tell(string(p))
	}
	s.kept += int64(len(p))
	if room := s.most - int64(len(s.head)); room > 0 {
		n := min(room, int64(len(p)))
		s.head = append(s.head, p[:n]...)
		p = p[n:]
	}
	s.tail = append(s.tail, p...)
	if int64(len(s.tail)) >= 2*s.mostTail+maxPiece { // rarely, so that each byte is moved about once
		s.tail = append(s.tail[:0], s.tail[int64(len(s.tail))-s.mostTail:]...)
	}
}

// close ends the stream and returns the kept output.
func (s *stream) close() Output {
	s.mask.close()
	if len(s.rest) > 0 {
		s.add(repaired(s.rest))
		s.rest = nil
	}
	head, tail := s.head, s.tail
	if s.kept <= s.most+s.mostTail {
		return Output{Text: string(head) + string(tail), Size: s.size, Truncated: s.dropped}
	}
	tail = tail[max(0, int64(len(tail))-s.mostTail):]
	head = head[:len(head)-unfinished(head)] // runes are not cut in two
	for len(tail) > 0 && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	// The two parts, now joined, may form a secret.
	return Output{Text: mask(s.mask.needles, string(head)+string(tail)), Size: s.size, Truncated: true}
}
