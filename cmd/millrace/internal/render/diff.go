package render

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/fsutil"
)

// Diff writes the changes of a plan like [millrace.Plan.WriteDiff], in a style: all of them, or those at some paths.
// With colours but not on a terminal, the output is the same text with colour codes. Hunks are read in groups of files,
// so that a large plan is never in memory as a whole.
func Diff(w io.Writer, plan *millrace.Plan, s Style, paths ...string) error {
	if s == (Style{}) {
		return plan.WriteDiff(w, paths...)
	}
	d := differ{plan: plan, style: s, w: bufio.NewWriterSize(w, 64<<10), size: 1}
	var err error
	if d.left, err = chosen(plan, paths); err != nil {
		return err
	}
	if slices.ContainsFunc(d.left, betweenKinds) {
		// For the path of such a file, a plan also returns the files below the directory. So the diff is written as a whole,
		// without marks at the changed bytes.
		p := &painter{style: s, w: d.w}
		if err := plan.WriteDiff(p, paths...); err != nil {
			return err
		}
		return cmp.Or(p.flush(), d.w.Flush())
	}
	// While one group of files is written, the next one is read.
	for now := d.next(); now != nil; {
		next := d.next()
		if err := d.write(now); err != nil {
			if next != nil && next.read != nil {
				<-next.read // the plan may be closed from now on
			}
			return err
		}
		now = next
	}
	return d.w.Flush()
}

// group is some consecutive files that are written in the same way.
type group struct {
	names  []string
	edited bool       // each was a file and remains one
	read   chan hunks // of simple files, nil for others
}

type hunks struct {
	files []millrace.FileDiff
	err   error
}

// next starts reading the next group, nil after the last group. The first group is a single file, so that it is shown
// immediately; later groups are larger.
func (d *differ) next() *group {
	if len(d.left) == 0 {
		return nil
	}
	simple := d.simple(d.left[0])
	g := &group{edited: edited(d.left[0])}
	for n := 0; n < min(d.size, len(d.left)) && d.simple(d.left[n]) == simple && edited(d.left[n]) == g.edited; n++ {
		g.names = append(g.names, d.left[n].Path)
	}
	d.left, d.size = d.left[len(g.names):], min(d.size*2, 128)
	if simple {
		g.read = make(chan hunks, 1)
		go func() {
			files, err := d.plan.Files(g.names...)
			g.read <- hunks{files, err}
		}()
	}
	return g
}

func (d *differ) write(g *group) error {
	if g.read == nil {
		return d.special(g)
	}
	read := <-g.read
	if read.err != nil {
		return read.err
	}
	return d.marked(read.files)
}

// betweenKinds reports whether a file or link becomes a directory, or a directory becomes a file or link.
func betweenKinds(c change.Change) bool { return c.Old.Kind == change.Dir || c.New.Kind == change.Dir }

// chosen returns the changes at the paths that are part of a diff. A renamed file is only part of it at its new name.
func chosen(plan *millrace.Plan, paths []string) ([]change.Change, error) {
	var list []change.Change
	found := make([]bool, len(paths))
	changes := plan.Outline()
	moved := make(map[string]bool)
	for _, c := range changes {
		if c.Kind == change.Renamed {
			moved[c.From] = true
		}
	}
	for _, c := range changes {
		wanted := len(paths) == 0
		for i, name := range paths {
			if fsutil.Within(c.Path, name) {
				wanted, found[i] = true, true
			}
		}
		if wanted && (hasText(c.New) || hasText(c.Old) && !moved[c.Path]) {
			list = append(list, c)
		}
	}
	for i, ok := range found {
		if !ok {
			return nil, fmt.Errorf("diff of %s: the plan changes nothing there", paths[i])
		}
	}
	return list, nil
}

type differ struct {
	plan  *millrace.Plan
	style Style
	w     *bufio.Writer
	left  []change.Change
	size  int // of the next group
	line  []byte
}

// simple reports whether the header of a file in a patch only has its name.
func (d *differ) simple(c change.Change) bool {
	return c.Kind == change.Modified && edited(c) && (c.Old.Mode^c.New.Mode)&0o100 == 0 && plainName(c.Path)
}

// marked writes edited files from their hunks, which have the changed bytes.
func (d *differ) marked(files []millrace.FileDiff) (err error) {
	for _, f := range files {
		if f.Binary {
			err = d.unmarkedText(f.Path)
		} else if len(f.Hunks) > 0 {
			err = d.file(f)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (d *differ) file(f millrace.FileDiff) error {
	b := d.line[:0]
	for _, head := range [...]string{"diff --git a/" + f.Path + " b/" + f.Path, "--- a/" + f.Path, "+++ b/" + f.Path} {
		b = append(b, d.style.Paint(Bold, head)...)
		b = append(b, '\n')
	}
	for _, h := range f.Hunks {
		b = d.style.hunk(b, h)
	}
	d.line = b
	_, err := d.w.Write(b)
	return err
}

// edited reports whether a change leaves a file in place of a file, perhaps with another name.
func edited(c change.Change) bool { return isFile(c.Old) && isFile(c.New) }

// special writes files with a longer header, or with only new or only removed lines.
func (d *differ) special(g *group) error {
	if !g.edited {
		return d.unmarkedText(g.names...)
	}
	for _, name := range g.names {
		if err := d.twice(name); err != nil {
			return err
		}
	}
	return nil
}

func (d *differ) unmarkedText(names ...string) error {
	p := &painter{style: d.style, w: d.w}
	if err := d.plan.WriteDiff(p, names...); err != nil {
		return err
	}
	return p.flush()
}

// twice writes a file that was edited, and perhaps moved, or has a name in quotes: its text is read once for the header
// and once for the changed bytes.
func (d *differ) twice(name string) error {
	files, err := d.plan.Files(name)
	if err != nil {
		return err
	}
	p := &painter{style: d.style, w: d.w, hunks: files[0].Hunks}
	if err := d.plan.WriteDiff(p, name); err != nil {
		return err
	}
	return p.flush()
}
