package page

import (
	"fmt"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/change"
)

// facts writes the facts of a change besides its lines.
func (p *Page) facts(c change.Change, d Difference) {
	var facts []string
	for _, s := range []change.State{c.Old, c.New} {
		if s.Kind != change.File && s.Kind != change.Absent && !slices.Contains(facts, named(s)) {
			facts = append(facts, named(s))
		}
	}
	created := c.Old.Kind == change.Absent && c.New.Kind != change.Symlink
	switch {
	case created && c.New.Mode != 0o644 && c.New.Mode != 0o755:
		facts = append(facts, fmt.Sprintf("mode %04o", c.New.Mode.Perm()))
	case created && c.New.Kind == change.File && c.New.Mode == 0o755:
		facts = append(facts, "executable")
	case c.Old.Kind == c.New.Kind && c.Old.Mode != c.New.Mode && c.New.Kind != change.Symlink:
		facts = append(facts, fmt.Sprintf("mode %04o → %04o", c.Old.Mode.Perm(), c.New.Mode.Perm()))
	}
	if c.Replaced.Kind != change.Absent {
		facts = append(facts, "in place of what is there")
	}
	if c.Permanent {
		facts = append(facts, "for good, not into the trash")
	}
	if d.Note != "" {
		facts = append(facts, d.Note)
	}
	by := c.By
	if c.Kind == change.Renamed && len(d.Hunks) > 0 {
		facts, by = append(facts, "renamed"), movers(c)
	}
	linked := c.Old.Kind == change.Symlink || c.New.Kind == change.Symlink
	if len(facts) == 0 && !linked && len(d.Hunks) > 0 {
		return // each hunk names its maker
	}
	p.WriteString(`<p class="facts">`)
	for i, fact := range facts {
		if i > 0 {
			p.WriteString(", ")
		}
		p.Text(fact)
	}
	if c.Old.Kind == change.Symlink {
		p.WriteString(` to `)
		p.Name(c.Old.Target)
	}
	if c.New.Kind == change.Symlink && (c.Old.Kind != change.Symlink || c.Old.Target != c.New.Target) {
		p.WriteString(` → `)
		p.Name(c.New.Target)
	}
	p.by(by)
	p.WriteString("</p>\n")
}

// movers are those who made a rename and did not only edit the file.
func movers(c change.Change) []change.Origin {
	edited := make(map[change.Origin]bool)
	for _, s := range c.Splices {
		for _, o := range s.By {
			edited[o] = true
		}
	}
	by := slices.DeleteFunc(slices.Clone(c.By), func(o change.Origin) bool { return edited[o] })
	if len(by) == 0 {
		return c.By
	}
	return by
}

// named returns the name of a kind of thing that is not a file.
func named(s change.State) string {
	switch s.Kind {
	case change.Dir:
		return "directory"
	case change.Symlink:
		return "symbolic link"
	default:
		return "neither file nor directory"
	}
}

// by writes the steps that made something, each once.
func (p *Page) by(origins []change.Origin) {
	var steps []string
	for _, o := range origins {
		if !slices.Contains(steps, o.Step) {
			steps = append(steps, o.Step)
		}
	}
	if len(steps) == 0 {
		return
	}
	p.WriteString(` <span class="by">by `)
	for i, step := range steps {
		if i > 0 {
			p.WriteString(", ")
		}
		p.WriteString(`<code>`)
		p.Text(strings.Trim(step, "()")) // a part that a reviewer has written is by "(review)"
		p.WriteString(`</code>`)
	}
	p.WriteString(`</span>`)
}
