package match

// SetRoom bounds the memory of the states that are kept for a pattern, before it is used.
func SetRoom(p *Pattern, bytes int) {
	if p.machine != nil {
		p.machine.room = bytes
	}
}

// HasMachine reports whether the pattern can do without package regexp.
func HasMachine(p *Pattern) bool { return p.machine != nil }

// AnyEnd reports whether the pattern takes "\r\n" for one line end.
func AnyEnd(p *Pattern) bool { return p.anyEnd }
