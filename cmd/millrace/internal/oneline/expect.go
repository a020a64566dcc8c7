package oneline

import (
	"strconv"
	"strings"

	"github.com/millrace-go/millrace"
)

// bounds parses "3", "1..", "..9" or "1..9". A nil bound means none.
func (c Common) bounds() (low, high *int, err error) {
	if c.Expect == "" {
		return nil, nil, nil
	}
	from, to, ranged := strings.Cut(c.Expect, "..")
	if !ranged {
		to = from
	}
	for _, side := range []struct {
		text string
		into **int
	}{{from, &low}, {to, &high}} {
		if side.text == "" && ranged {
			continue
		}
		n, err := strconv.ParseUint(side.text, 10, 31)
		if err != nil {
			return nil, nil, usage("write a number, or two as 1..9, 1.. or ..9", "--expect cannot be '%s'", c.Expect)
		}
		number := int(n)
		*side.into = &number
	}
	switch {
	case low == nil && high == nil:
		return nil, nil, usage("write a number, or two as 1..9, 1.. or ..9", "--expect cannot be '%s'", c.Expect)
	case low != nil && high != nil && *low > *high:
		return nil, nil, usage("write the smaller number first", "--expect '%s' is not a range", c.Expect)
	}
	return low, high, nil
}

func (c Common) edits() (millrace.Expect, error) {
	low, high, err := c.bounds()
	return millrace.Expect{MinEdits: low, MaxEdits: high}, err
}

func (c Common) files() (millrace.Expect, error) {
	low, high, err := c.bounds()
	return millrace.Expect{MinFiles: low, MaxFiles: high}, err
}
