package placing

import (
	"strings"

	"github.com/millrace-go/millrace/internal/patch"
)

// already reports whether the file already has the new lines of a hunk.
func (p *placing) already(h *patch.Hunk, from, stated int) (done bool, at int, err error) {
	if h.Added+h.Removed == 0 || h.NewLines == 0 || h.NewLines > p.lines() {
		return false, 0, nil
	}
	run := p.texts(h, '-')
	if strings.TrimSpace(strings.Join(run, "")) == "" {
		return false, 0, nil // empty lines prove nothing
	}
	fits := func(at int) bool {
		return at >= from && (!h.AtEnd || at+len(run) == p.lines()) && p.proves(h, at, len(run))
	}
	for _, at := range []int{stated, h.NewStart - 1} {
		if h.Numbered && p.same(run, at, None) && fits(at) {
			return true, at, nil
		}
	}
	if h.OldLines == 0 {
		// Only its place identifies the hunk.
		at = p.lines() - len(run)
		if len(h.Anchors) > 0 && !h.AtEnd {
			at = from
		}
		return p.same(run, at, None) && fits(at), at, nil
	}
	x, err := p.Text.index(p.ctx, p.hunks, None, p.steps)
	if err != nil {
		return false, 0, err
	}
	count := 0
	err = x.each(p.ctx, None, run, p.steps, func(first int) bool {
		if fits(first) {
			count, at = count+1, first
		}
		return count < 2
	})
	return count == 1, at, err
}

// proves reports whether the new lines at a place prove that a hunk was applied. If the hunk only removes lines, its
// context must be there on both sides, or the file must begin or end there.
func (p *placing) proves(h *patch.Hunk, at, lines int) bool {
	if h.Added > 0 {
		return true
	}
	return (h.Lead > 0 || at == 0) && (h.Trail > 0 || at+lines == p.lines())
}
