package budget

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Cost is an amount of money in millionths of a US dollar, so that sums are exact. In JSON it is a number of dollars
// with 6 decimals at most.
type Cost int64

// Units for writing amounts: 3*budget.Dollar.
const (
	Cent   Cost = 10_000
	Dollar Cost = 100 * Cent
)

// decimals is the number of decimal digits of a dollar.
const decimals = 6

// Parse reads a number of dollars in the syntax of JSON, such as 3, 0.42 or 5e-3. It is an error if the number has more
// than 6 decimals that are not zero, or is beyond 9,223,372,036,854 dollars.
func Parse(text string) (Cost, error) {
	number, err := parse(text)
	if err != nil {
		return 0, fmt.Errorf("%q is not a cost: %w", text, err)
	}
	return number, nil
}

var (
	errNoNumber = errors.New("it is not a number of dollars")
	errDecimals = errors.New("it has more than 6 decimals")
	errTooLarge = errors.New("it is too large")
)

func parse(text string) (Cost, error) {
	rest, negative := strings.CutPrefix(text, "-")
	exponent := 0
	if at := strings.IndexAny(rest, "eE"); at >= 0 {
		n, err := strconv.Atoi(rest[at+1:])
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			return 0, errNoNumber
		}
		rest, exponent = rest[:at], min(max(n, -1<<30), 1<<30)
	}
	whole, fraction, point := strings.Cut(rest, ".")
	if !digits(whole) || point && !digits(fraction) || len(whole) > 1 && whole[0] == '0' {
		return 0, errNoNumber
	}
	significant := strings.TrimLeft(whole+fraction, "0")
	short := strings.TrimRight(significant, "0")
	// The amount is short times ten to the power of scale.
	scale := int64(exponent) - int64(len(fraction)) + int64(len(significant)-len(short)) + decimals
	switch {
	case short == "":
		return 0, nil
	case scale < 0:
		return 0, errDecimals
	case int64(len(short))+scale > 19:
		return 0, errTooLarge
	}
	n, err := strconv.ParseInt(short+strings.Repeat("0", int(scale)), 10, 64)
	if err != nil {
		return 0, errTooLarge
	}
	if negative {
		n = -n
	}
	return Cost(n), nil
}

// digits reports whether a text is one digit or more, and nothing else.
func digits(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}

// FromFloat returns the cost that is nearest to a number of dollars, for services that report more decimals than a Cost
// has. An amount above zero never becomes zero. It is an error if the number is negative, NaN, or too large.
func FromFloat(dollars float64) (Cost, error) {
	millionths := math.Round(dollars * float64(Dollar))
	switch {
	case !(dollars >= 0):
		return 0, fmt.Errorf("a cost must be 0 or more dollars, got %v", dollars)
	case millionths >= math.MaxInt64:
		return 0, fmt.Errorf("a cost of %v dollars: %w", dollars, errTooLarge)
	case millionths == 0 && dollars > 0:
		return 1, nil
	}
	return Cost(millionths), nil
}

// Plus returns the sum of two costs. A negative spent counts as 0, because nothing is refunded, and a sum that is too
// large is the largest Cost.
func (c Cost) Plus(spent Cost) Cost {
	spent = max(spent, 0)
	if c > math.MaxInt64-spent {
		return math.MaxInt64
	}
	return c + spent
}

// String returns the amount in dollars with 2 to 6 decimals: "$3.00", "$0.0035", "-$1.50".
func (c Cost) String() string {
	sign, whole, fraction := c.parts()
	fraction = strings.TrimRight(fraction, "0")
	return sign + "$" + whole + "." + fraction + strings.Repeat("0", max(2-len(fraction), 0))
}

// parts returns the sign of the amount, its dollars, and 6 digits after the point.
func (c Cost) parts() (sign, whole, fraction string) {
	n := uint64(c)
	if c < 0 {
		sign, n = "-", -n
	}
	digits := fmt.Sprintf("%07d", n)
	return sign, digits[:len(digits)-decimals], digits[len(digits)-decimals:]
}

// MarshalJSON returns the number of dollars, without trailing zeros.
func (c Cost) MarshalJSON() ([]byte, error) {
	sign, whole, fraction := c.parts()
	return []byte(strings.TrimSuffix(sign+whole+"."+strings.TrimRight(fraction, "0"), ".")), nil
}

// UnmarshalJSON is Parse. The cost is unchanged by null, and if it fails.
func (c *Cost) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	parsed, err := Parse(string(data))
	if err != nil {
		return err
	}
	*c = parsed
	return nil
}
