package sed

import std "context"

// often is how much work, in bytes and nodes, is done between two looks at the context.
const often = 1 << 18

// clock ends work when its context ends. What works asks it now and then, and goes back with any answer once the clock says
// no: whoever has started it finds the reason in err, and takes no notice of the answer.
type clock struct {
	ctx  std.Context
	left int
	err  error
}

// spend tells of some work that was done, and reports whether to go on.
func (c *clock) spend(work int) bool {
	if c.left -= work; c.left <= 0 {
		c.left = often
		if c.err == nil {
			c.err = c.ctx.Err()
		}
	}
	return c.err == nil
}
