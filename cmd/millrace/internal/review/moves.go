package review

import (
	"context"
	"slices"
)

// step is the effect of one key: the earlier position of the review, and the earlier files.
type step struct {
	at    place
	files []savedFile
}

type savedFile struct {
	n  int
	is file
}

// save records the position and some files before they are changed, for back.
func (r *Review) save(files ...int) {
	s := step{at: r.at}
	for _, n := range files {
		s.files = append(s.files, savedFile{n, r.files[n].copied()})
	}
	r.history = append(r.history, s)
}

// back undoes the effect of the last key, and reports whether there was one.
func (r *Review) back() bool {
	if len(r.history) == 0 {
		return false
	}
	last := r.history[len(r.history)-1]
	r.history = r.history[:len(r.history)-1]
	for _, f := range last.files {
		*r.files[f.n] = f.is
	}
	r.at = last.at
	return true
}

// next moves to the next undecided item, wrapping around at the end, and reports whether there is one.
func (r *Review) next() bool {
	here := r.at
	for n := range len(r.files) + 1 {
		f, from := (here.file+n)%len(r.files), 0
		if n == 0 {
			from = here.item + 1
		}
		if n == 0 && r.files[f].items == nil {
			continue
		}
		if i, ok := r.files[f].open(from); ok {
			r.at = place{f, i}
			return true
		}
	}
	return false
}

// decideRest decides on the current item and on the undecided rest of the file.
func (r *Review) decideRest(is decision) {
	f := r.files[r.at.file]
	f.items[r.at.item].is = undecided
	f.decide(r.at.item, is)
}

// decideAll decides on the current item and on all undecided items.
func (r *Review) decideAll(is decision) {
	var touched []int
	for n, f := range r.files {
		if _, ok := f.open(0); ok || n == r.at.file {
			touched = append(touched, n)
		}
	}
	r.save(touched...)
	r.item().is = undecided
	for _, n := range touched {
		r.files[n].decide(0, is)
	}
}

// takeLike accepts the current item, and all later undecided items made by the same steps. Files made by other steps
// are not read for that.
func (r *Review) takeLike(ctx context.Context) (bool, error) {
	steps := r.files[r.at.file].stepsOf(r.at.item)
	if len(steps) == 0 {
		r.say(noStep)
		return false, nil
	}
	like := func(other []string) bool { return slices.Equal(sorted(steps), sorted(other)) }
	r.save()
	s := &r.history[len(r.history)-1]
	for n := r.at.file; n < len(r.files); n++ {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		f, from := r.files[n], 0
		if n == r.at.file {
			from = r.at.item
		}
		if _, ok := f.open(from); !ok && n != r.at.file || !containsAll(f.steps(), steps) {
			continue
		}
		s.files = append(s.files, savedFile{n, f.copied()})
		if f.items == nil {
			if f.by(steps[0]) {
				f.all = taken // all its hunks are by this step, so they need not be read
				continue
			}
			r.load(n)
		}
		for i := from; i < len(f.items); i++ {
			if here := n == r.at.file && i == r.at.item; here || f.items[i].is == undecided && like(f.stepsOf(i)) {
				f.items[i].is = taken
			}
		}
	}
	return true, nil
}

func sorted(list []string) []string { return slices.Sorted(slices.Values(list)) }

func containsAll(list, wanted []string) bool {
	return !slices.ContainsFunc(wanted, func(s string) bool { return !slices.Contains(list, s) })
}

// split makes items of smaller parts: of each place where a hunk differs, of each match in a hunk with one such place,
// or of each hunk of a renamed file. It reports whether that was possible.
func (r *Review) split() bool {
	f := r.files[r.at.file]
	if !f.parts {
		if len(f.diff.Hunks) == 0 || !isFile(f.change) {
			r.say("this is one decision; it has no parts")
			return false
		}
		r.save(r.at.file)
		f.items[0].is = undecided
		f.intoHunks()
		r.say("its new name or mode is taken; its hunks are decided one by one")
		return true
	}
	items := f.items[r.at.item].split()
	if len(items) < 2 {
		r.say("this hunk has no parts")
		return false
	}
	r.save(r.at.file)
	f.items = slices.Replace(slices.Clone(f.items), r.at.item, r.at.item+1, items...)
	return true
}

// split returns the parts of an item, fewer than two if it cannot be split.
func (i item) split() (items []item) {
	if i.of != nil {
		return nil
	}
	parts := i.hunk.Split()
	if len(parts) < 2 {
		if m := matchesOf(i.hunk); m != nil {
			return m.items()
		}
	}
	for _, h := range parts {
		items = append(items, item{hunk: h})
	}
	return items
}
