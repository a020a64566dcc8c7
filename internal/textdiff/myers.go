package textdiff

// diagonals records, for each diagonal k = x-y, how far (x) a search has come on it. It covers -bound-1 to bound+1.
type diagonals struct {
	x      []int
	origin int // the index of diagonal 0
}

// unreached marks a diagonal that no path has reached, or only paths that are not better than a path of another
// diagonal. It is low enough to stay negative after an addition, and to lose every comparison.
const unreached = -1 << 30

func (d *diagonals) start(bound int) {
	if n := 2*bound + 3; len(d.x) < n {
		d.x = make([]int, n)
	}
	d.origin = bound + 1
	// At cost 0 a search does not move along diagonal 0, because the first lines differ.
	d.x[d.origin-1], d.x[d.origin], d.x[d.origin+1] = unreached, 0, unreached
}

// next opens the two diagonals next to the diagonals of cost c, for the steps to the next cost.
func (d *diagonals) next(c int) {
	d.x[d.origin-c-1], d.x[d.origin+c+1] = unreached, unreached
}

// step uses one change: right from the diagonal below or down from the diagonal above, whichever comes further. It
// returns unreached if that leaves the box of n by m lines. Nothing is lost then: its predecessor is at the border
// already, and a path over this diagonal is not shorter.
func (d *diagonals) step(k, n, m int) int {
	at := d.origin + k
	x := max(d.x[at-1]+1, d.x[at+1])
	if x < 0 || x > n || x-k > m {
		x = unreached
	}
	d.x[at] = x
	return x
}

// meets reports whether the other search, at cost c and seen from the other corner, has come as far as x on diagonal k.
func (d *diagonals) meets(k, x, c, n int) bool {
	return k >= -c && k <= c && d.x[d.origin+k]+x >= n
}

// best returns the point of cost c that is furthest from the start of the search.
func (d *diagonals) best(c, n, m int) (x, y int) {
	lo, hi := span(c, n, m)
	for k := lo; k <= hi; k += 2 {
		if at := d.x[d.origin+k]; at >= 0 && 2*at-k > x+y {
			x, y = at, at-k
		}
	}
	return x, y
}

// span returns the first and the last diagonal for cost c; only every other diagonal in between counts. All are within
// the box.
func span(c, n, m int) (lo, hi int) {
	lo = -c
	if c > m {
		lo = -m + (c-m)&1
	}
	return lo, min(c, n)
}

// search looks for the middle of a shortest edit script between a and b, from both ends at once (Myers 1986, section
// 4b). It returns a point (x, y) with exact true if a shortest script passes through it. If the shortest has more than
// 2*bound changes, it returns the furthest point that either search has reached. In both cases the parts a[:x], b[:y]
// and a[x:], b[y:] are each smaller than the whole.
//
// a and b must not be empty, nor begin or end with the same line.
func (e *engine) search(a, b []int32, bound int) (x, y int, exact bool) {
	n, m := len(a), len(b)
	delta := n - m
	odd := delta&1 != 0
	bound = min(bound, (n+m+1)/2)
	f, r := &e.front, &e.back
	f.start(bound)
	r.start(bound)
	for c := 1; c <= bound; c++ {
		lo, hi := span(c, n, m)
		f.next(c)
		for k := lo; k <= hi; k += 2 {
			x := f.step(k, n, m)
			if x < 0 {
				continue
			}
			y := x - k
			for x < n && y < m && a[x] == b[y] {
				x, y = x+1, y+1
			}
			f.x[f.origin+k] = x
			if odd && r.meets(delta-k, x, c-1, n) {
				return x, y, true
			}
		}
		r.next(c)
		for k := lo; k <= hi; k += 2 {
			x := r.step(k, n, m)
			if x < 0 {
				continue
			}
			y := x - k
			for x < n && y < m && a[n-1-x] == b[m-1-y] {
				x, y = x+1, y+1
			}
			r.x[r.origin+k] = x
			if !odd && f.meets(delta-k, x, c, n) {
				return n - x, m - y, true
			}
		}
	}
	fx, fy := f.best(bound, n, m)
	rx, ry := r.best(bound, n, m)
	if fx+fy >= rx+ry {
		return fx, fy, false
	}
	return n - rx, m - ry, false
}
