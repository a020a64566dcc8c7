package sed

// PlaceKind is the part of a script in which a value is.
type PlaceKind uint8

// The kinds of places. A value between brackets is in the bracket expression of a pattern. A value that begins the text
// of a, i or c is on the line of its command.
const (
	Elsewhere PlaceKind = iota
	InPattern
	InBrackets
	InReplacement // also in the characters of y
	BeginsText
)

// Place is the place of a value in a script.
type Place struct {
	Kind      PlaceKind
	Delimiter byte // of a pattern or a replacement
}

// PlacesOf reads a script that has a value between each two of its parts. It calls value for the values in order, which
// returns the value as it is in the script. After the first error, values are Elsewhere. Patterns are not checked.
func PlacesOf(parts []string, value func(Place) string) {
	p := &parser{
		scripts: parts[:1], script: -1, scan: true, out: &Script{}, rest: parts[1:], value: value,
	}
	p.nextScript()
	p.commands()
	for range p.rest {
		value(Place{})
	}
}

// more appends the next value and the part after it to the script read, until it has a byte to read. It reports whether
// it has one.
func (p *parser) more() bool {
	for p.at >= len(p.text) && len(p.rest) > 0 {
		p.text += p.value(p.place) + p.rest[0]
		p.rest = p.rest[1:]
	}
	return p.at < len(p.text)
}
