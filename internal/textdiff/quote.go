package textdiff

import "strings"

// quote returns a name as git prints it with core.quotePath: in double quotes and with C escapes if it has control
// characters, double quotes, backslashes or bytes above 0x7e, otherwise unchanged.
func quote(name string) string {
	if !strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' || r >= 0x7f }) {
		return name
	}
	const letters = "abtnvfr" // of the characters 7 to 13
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(name) {
		switch c := name[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c >= 7 && c <= 13:
			b.WriteByte('\\')
			b.WriteByte(letters[c-7])
		case c < ' ' || c >= 0x7f:
			b.Write([]byte{'\\', '0' + c>>6, '0' + c>>3&7, '0' + c&7})
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// quoteSpaces returns a name in quotes if it has a space, otherwise the result of quote.
func quoteSpaces(name string) string {
	if q := quote(name); q != name || !strings.Contains(name, " ") {
		return q
	}
	return `"` + name + `"`
}

// fileLine writes the line that names a file before its hunks. A tab marks the end of a name with a space: the text
// after it is taken for a time. For a name that ends in a space, patch needs quotes instead.
func (p *printer) fileLine(prefix, name string) {
	switch {
	case strings.HasSuffix(name, " "):
		p.print(prefix, quoteSpaces(name), "\n")
	case strings.Contains(name, " "):
		p.print(prefix, quote(name), "\t\n")
	default:
		p.print(prefix, quote(name), "\n")
	}
}
