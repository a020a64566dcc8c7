package oneline

import (
	"fmt"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
)

// sources are the files to work on: named files, and globs.
type sources struct {
	files []string
	globs []glob
}

// directories is how a command treats directories among its arguments.
type directories uint8

const (
	refused  directories = iota // with a hint for the glob to write
	withFlag                    // refused, with hints for the glob and for the flag -r
	taken                       // used as named, like files
	within                      // mean all files in them
)

// sources sorts arguments. An existing path is a name, even if it looks like a glob.
func (w Where) sources(arguments []string, dirs directories) (sources, error) {
	var s sources
	seen := make(map[string]bool, len(arguments))
	for _, argument := range arguments {
		argument = w.slashes(argument)
		name, err := w.place(argument)
		if err != nil {
			return sources{}, err
		}
		kind := w.look(name)
		switch {
		case kind == Dir && dirs == within:
			s.globs = append(s.globs, glob{name, "**"})
		case kind == Dir && dirs != taken:
			hint := fmt.Sprintf("write '%s' for all that is in it", shown(escape(slashed(argument))+"**"))
			if dirs == withFlag {
				hint = "add -r for the directory itself, or " + hint
			}
			return sources{}, usage(hint, "'%s' is a directory", shown(argument))
		case kind == Nothing && isGlob(argument):
			g, err := w.glob(argument)
			if err != nil {
				return sources{}, err
			}
			s.globs = append(s.globs, g)
		case !seen[name]:
			seen[name] = true
			s.files = append(s.files, name)
		}
	}
	return s, nil
}

// moving are the steps of a command that works on whole files: the steps that find files come before all steps that
// move them.
type moving struct {
	word        string // the id for the steps that move
	named       []string
	noIgnore    bool
	expect      millrace.Expect
	finds, acts []millrace.Step
}

// add adds the steps for some sources: one for the named files, one for the files matched by globs.
func (m *moving) add(s sources, act func(files []string) actions.Action, raw bool) {
	if len(s.files) > 0 {
		m.act(millrace.Step{Action: act(s.files), Raw: raw || braced(s.files...)})
	}
	if len(s.globs) == 0 {
		return
	}
	var ids []string
	for _, g := range s.globs {
		ids = append(ids, m.find(g))
	}
	step := millrace.Step{Action: act(nil), Raw: raw, InputFromAll: ids}
	if len(ids) == 1 {
		step.InputFrom, step.InputFromAll = ids[0], nil
	}
	m.act(step)
}

func (m *moving) act(s millrace.Step) {
	s.ID, s.Expect = numbered(m.word, len(m.acts)), m.expect
	m.acts = append(m.acts, s)
}

// find adds the step that lists the files matched by a glob, and returns its id. It excludes named files, which already
// have a step.
func (m *moving) find(g glob) string {
	l := actions.List{Depth: g.depth(), Include: []string{g.whole()}, NoIgnore: m.noIgnore}
	if g.dir != "." {
		l.Path = g.dir
	}
	for _, name := range m.named {
		l.Exclude = append(l.Exclude, anchored(escape(name)))
	}
	id := numbered(stepFind, len(m.finds))
	raw := braced(l.Path) || braced(l.Include...) || braced(l.Exclude...)
	m.finds = append(m.finds, millrace.Step{ID: id, Action: l, Raw: raw})
	return id
}

func (m *moving) build(c Common, command, argument string) (millrace.Pipeline, error) {
	if err := c.oneBound(len(m.acts)); err != nil {
		return millrace.Pipeline{}, err
	}
	return c.build(command, argument, append(m.finds, m.acts...)...)
}

// numbered returns the id of a step: the first step has the plain word.
func numbered(word string, i int) string {
	if i == 0 {
		return word
	}
	return fmt.Sprint(word, i+1)
}

// oneBound refuses --expect if there are several steps.
func (c Common) oneBound(steps int) error {
	if c.Expect != "" && steps > 1 {
		return usage("give either names, or globs of one kind", "--expect is for one step, and this takes %d", steps)
	}
	return nil
}
