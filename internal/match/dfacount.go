package match

import "context"

// count counts the matches in the text, none of which is empty, if it is ok. byLine says that none goes beyond a
// line. It looks at the context now and then and returns its error.
func (d *dfa) count(ctx context.Context, data []byte, byLine bool) (n int, ok bool, err error) {
	if !d.begin(data) {
		return 0, false, nil
	}
	c := counting{dfa: d, ctx: ctx}
	if byLine && d.divide() {
		if ok, err := c.parts(); !ok || err != nil {
			return c.n, ok, err
		}
		for i := range parts {
			if ok, err := c.lane(&d.lanes[i]); !ok || err != nil {
				return c.n, ok, err
			}
		}
		return c.n, true, nil
	}
	d.enter(&d.lanes[0], 0, len(data))
	ok, err = c.lane(&d.lanes[0])
	return c.n, ok, err
}

type counting struct {
	*dfa
	ctx  context.Context
	n    int
	work int // bytes since the context was looked at, about
}

// again counts a match, now that no better one can come, and goes on behind it. Its error is that of the context.
func (c *counting) again(l *lane) error {
	const often = 1 << 20
	c.n++
	if c.work += l.pos - l.end + 64; c.work > often {
		c.work = 0
		if err := c.ctx.Err(); err != nil {
			return err
		}
	}
	c.enter(l, l.end, l.to)
	return nil
}

// parts counts in all parts at once, as far as that is the best way.
func (c *counting) parts() (ok bool, err error) {
	const close = 64 // bytes from one match to the next, below which nothing is gained
	ok = true
	c.together(func(l *lane, v verdict) bool {
		if ok = v != gaveUp; !ok || l.state != none {
			return ok
		}
		err = c.again(l)
		return err == nil && (c.n < 16 || c.n*close < parts*c.lanes[0].pos)
	})
	return ok, err
}

// lane counts to the end of a lane.
func (c *counting) lane(l *lane) (ok bool, err error) {
	for {
		if l.end >= 0 {
			c.runOn(l)
		} else {
			c.run(l)
		}
		if l.pos == l.to && l.to < len(c.data) {
			return true, nil // a line has ended, and with it all that has begun in it
		}
		last := l.pos == len(c.data)
		if c.step(l) == gaveUp {
			return false, nil
		}
		switch {
		case !last && l.state != none:
		case l.end < 0:
			return true, nil
		case l.end == len(c.data):
			c.n++
			return true, nil
		default:
			if err := c.again(l); err != nil {
				return true, err
			}
		}
	}
}
