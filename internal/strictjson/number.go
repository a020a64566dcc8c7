package strictjson

import (
	"errors"
	"strconv"
	"strings"
)

// The errors of [Whole].
var (
	ErrNotNumber = errors.New("not a number")
	ErrFraction  = errors.New("not a whole number")
	ErrRange     = errors.New("number is out of range")
)

// number reads a number, whose first byte is a digit or "-".
func (p *parser) number() (string, error) {
	start := p.pos
	for n := p.peek(); letter(n) || '0' <= n && n <= '9' || n == '+' || n == '-' || n == '.'; n = p.peek() {
		p.pos++
	}
	text := string(p.data[start:p.pos])
	if why := badNumber(text); why != "" {
		return "", p.fail(start, "%s is not a number in JSON: %s", quoted(text), why)
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return "", p.fail(start, "number %s is out of range", quoted(text))
	}
	mantissa, _, _ := strings.Cut(strings.ToLower(text), "e")
	if f == 0 && strings.ContainsAny(mantissa, "123456789") {
		// ParseFloat returns zero, which is not the number written.
		return "", p.fail(start, "number %s is out of range: it is too close to 0", quoted(text))
	}
	return text, nil
}

// badNumber returns the reason why text is not a number, or "".
func badNumber(text string) string {
	s := strings.TrimPrefix(text, "-")
	digits := func() int {
		n := 0
		for n < len(s) && '0' <= s[n] && s[n] <= '9' {
			n++
		}
		s = s[n:]
		return n
	}
	zero := strings.HasPrefix(s, "0")
	switch n := digits(); {
	case n == 0:
		return "a digit is missing"
	case n > 1 && zero:
		return "it has a leading zero"
	}
	if strings.HasPrefix(s, ".") {
		s = s[1:]
		if digits() == 0 {
			return "a digit is missing after the point"
		}
	}
	if s != "" && (s[0] == 'e' || s[0] == 'E') {
		s = s[1:]
		if s != "" && (s[0] == '+' || s[0] == '-') {
			s = s[1:]
		}
		if digits() == 0 {
			return "a digit is missing in the exponent"
		}
	}
	if s != "" {
		return quoted(s) + " does not belong there"
	}
	return ""
}

// SameNumber reports whether two JSON numbers have the same value, such as 1.50, 1.5 and 15e-1.
func SameNumber(a, b string) bool {
	m, n := decimalOf(a), decimalOf(b)
	return m == n || m.digits == "" && n.digits == ""
}

// decimal is a number, as a whole number times a power of ten.
type decimal struct {
	negative bool
	digits   string // without zeros at either end, "" for zero
	power    int
}

func decimalOf(text string) decimal {
	s, negative := strings.CutPrefix(text, "-")
	mantissa, exponent, _ := strings.Cut(strings.ToLower(s), "e")
	integer, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(integer+fraction, "0")
	significant := strings.TrimRight(digits, "0")
	power, _ := strconv.Atoi(exponent) // the number is in range
	return decimal{negative, significant, power + len(digits) - len(significant) - len(fraction)}
}

// Whole reads a JSON number exactly: 3, 3.0, 30e-1 and 0.3e1 are all 3. The errors are [ErrNotNumber], [ErrFraction],
// and [ErrRange] if the magnitude needs more than 64 bits.
func Whole(text string) (negative bool, magnitude uint64, err error) {
	if badNumber(text) != "" {
		return false, 0, ErrNotNumber
	}
	s, negative := strings.CutPrefix(text, "-")
	mantissa, exponent, hasExponent := strings.Cut(strings.ToLower(s), "e")
	integer, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(integer+fraction, "0")
	if digits == "" {
		return negative, 0, nil
	}
	significant := strings.TrimRight(digits, "0")
	// The value is significant * 10^scale.
	scale := len(digits) - len(significant) - len(fraction)
	if hasExponent {
		e, err := strconv.Atoi(exponent)
		// An exponent beyond any length of text makes the value huge or tiny, whatever the digits. Limiting it also keeps the
		// sum from overflowing.
		if limit := len(text) + 1000; err != nil || e > limit || e < -limit {
			e = limit
			if strings.HasPrefix(exponent, "-") {
				e = -limit
			}
		}
		scale += e
	}
	if scale < 0 {
		return negative, 0, ErrFraction
	}
	const mostDigits = 20 // in a uint64
	if len(significant)+scale > mostDigits {
		return negative, 0, ErrRange
	}
	if magnitude, err = strconv.ParseUint(significant+strings.Repeat("0", scale), 10, 64); err != nil {
		return negative, 0, ErrRange
	}
	return negative, magnitude, nil
}
