package oneline

import (
	"fmt"
	"path"
	"strings"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
)

// Transfer are the arguments of `millrace mv SRC… DEST` or `millrace cp SRC… DEST`.
type Transfer struct {
	Common
	// Copy keeps the sources.
	Copy bool
	// Sources are names and globs; at least one. A directory moves with everything in it, and is not copied. Below a
	// destination, the files of a glob with ** keep the directories between the destination and the first special
	// character of the glob.
	Sources []string
	// Dest is a directory if it ends in a slash or is an existing directory. Otherwise it is the new name of one file or
	// directory, or of several with parts of the old names: {{dir}}, {{stem}}, {{ext}} and {{name}}. A single directory
	// gets a Dest that does not exist as its new name, even with a trailing slash, as with mv(1).
	Dest string
	// Regex changes a part of the names instead: in each path, the matches of the regular expression Old are replaced by
	// New, as in Replace. Then Dest is not used, a directory means all files in it, and no Sources mean the working
	// directory.
	Regex    bool
	Old, New string
	// Replace does the same for a text, as OLD=NEW, at most once.
	Replace []string
	// Overwrite replaces existing files.
	Overwrite, NoIgnore bool
}

// target is the destination of files.
type target struct {
	destination, to, base string
	keep                  bool // keep the directories below base
}

// group is the sources for one target.
type group struct {
	sources
	target
}

// Transfer returns the pipeline: steps that list the files matched by globs, then the moves.
func (w Where) Transfer(t Transfer) (millrace.Pipeline, error) {
	var none millrace.Pipeline
	command, word := "mv", "move"
	if t.Copy {
		command, word = "cp", "copy"
	}
	expect, err := t.files()
	if err != nil {
		return none, err
	}
	if t.byPattern() && !t.Copy {
		return w.renamed(t, expect)
	}
	if len(t.Sources) == 0 {
		return none, usage(fmt.Sprintf("write millrace %s SRC… DEST", command), "%s needs a source and a destination",
			command)
	}
	t.Dest = w.slashes(t.Dest)
	dirs := taken
	if t.Copy {
		dirs = refused
	}
	from, err := w.sources(t.Sources, dirs)
	if err != nil {
		return none, err
	}
	if t.NoIgnore && len(from.globs) == 0 {
		return none, usage("leave it out", "--no-ignore goes with globs")
	}
	if err := w.checkDest(t, from); err != nil {
		return none, err
	}
	groups, err := w.groups(t, from)
	if err != nil {
		return none, err
	}
	work := moving{word: word, noIgnore: t.NoIgnore, expect: expect}
	for _, g := range groups {
		work.named = append(work.named, g.files...)
	}
	for _, g := range groups {
		act := func(files []string) actions.Action { return t.action(files, g.target) }
		work.add(g.sources, act, g.raw())
	}
	return work.build(t.Common, command, t.Sources[0])
}

// raw reports whether the target could be read as a template of a step.
func (t target) raw() bool {
	to := strings.NewReplacer("{{dir}}", "", "{{stem}}", "", "{{ext}}", "", "{{name}}", "").Replace(t.to)
	return braced(t.destination, t.base, to)
}

func (t Transfer) action(files []string, to target) actions.Action {
	if t.Copy {
		return actions.Copy{Files: files, Destination: to.destination, To: to.to, Base: to.base, PreservePaths: to.keep,
			Overwrite: t.Overwrite}
	}
	return actions.Rename{Files: files, Destination: to.destination, To: to.to, Base: to.base, PreservePaths: to.keep,
		Overwrite: t.Overwrite}
}

// groups groups the sources by target.
func (w Where) groups(t Transfer, from sources) ([]group, error) {
	if strings.Contains(t.Dest, "{{") {
		to, err := w.named(t.Dest)
		return []group{{from, to}}, err
	}
	name, err := w.place(t.Dest)
	if err != nil {
		return nil, err
	}
	kind := w.look(name)
	one := len(from.files) == 1 && len(from.globs) == 0
	last := path.Base(t.Dest)
	slash := strings.HasSuffix(t.Dest, "/") && !(one && kind == Nothing && w.look(from.files[0]) == Dir)
	if !slash && last != "." && last != ".." && kind != Dir && kind != DirLink {
		if one {
			return []group{{from, target{to: name}}}, nil
		}
		return nil, usage(
			fmt.Sprintf("write '%s' for a directory to put them into, or parts of their names such as '{{stem}}'",
				shown(slashed(t.Dest))), "'%s' is one name, and there can be several files", shown(t.Dest))
	}
	dir := slashed(name)
	flat := group{target: target{destination: dir}}
	flat.files = from.files
	var groups []group
	for _, g := range from.globs {
		if !g.deep() {
			flat.globs = append(flat.globs, g)
			continue
		}
		deep := group{target: target{destination: dir, keep: true}}
		if g.dir != "." {
			deep.base = g.dir
		}
		deep.globs = []glob{g}
		groups = append(groups, deep)
	}
	if len(flat.files)+len(flat.globs) > 0 {
		groups = append([]group{flat}, groups...)
	}
	return groups, nil
}

// named returns the target of a name with parts. {{dir}} is the directory of a file relative to the working directory.
func (w Where) named(dest string) (target, error) {
	if strings.HasSuffix(dest, "/") {
		return target{}, usage("add {{name}} to its end", "'%s' has parts of names, and names no file", shown(dest))
	}
	fixed, _, _ := strings.Cut(dest, "{{")
	fixed = fixed[:strings.LastIndex(fixed, "/")+1]
	if w.dir() == "." && fixed == "" {
		return target{to: dest}, nil
	}
	dir := w.dir()
	if fixed != "" {
		var err error
		if dir, err = w.place(fixed); err != nil {
			return target{}, err
		}
	}
	to := strings.TrimPrefix(dest, fixed)
	return target{to: to, destination: slashed(dir), base: w.baseOf(to)}, nil
}

// baseOf returns the directory from which {{dir}} counts in a name, "" for the root or a name without it.
func (w Where) baseOf(to string) string {
	if w.dir() == "." || !strings.Contains(strings.ReplaceAll(to, " ", ""), "{{dir}}") {
		return ""
	}
	return w.dir()
}
