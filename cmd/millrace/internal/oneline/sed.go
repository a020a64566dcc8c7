package oneline

import (
	"strings"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
)

// Sed are the arguments of `millrace sed SCRIPT GLOB…`.
type Sed struct {
	Common
	// Scripts are run one after the other, like several -e. At least one.
	Scripts []string
	// Files are globs and names of files. At least one.
	Files []string
	// Exclude are globs of files and directories to exclude, relative to the working directory.
	Exclude []string
	// Syntax is "", "ere", "bre" or "re2".
	Syntax string
	// Printed keeps only the lines that the script prints, like sed -n.
	Printed, NoIgnore, Binary bool
}

// Sed returns the pipeline: one step for the globs, and one for the names.
func (w Where) Sed(s Sed) (millrace.Pipeline, error) {
	var none millrace.Pipeline
	switch {
	case len(s.Scripts) == 0:
		return none, usage("", "a script is required")
	case len(s.Files) == 0:
		return none, usage("write one in quotes, such as 'src/**/*.js'", "a glob for the files to edit is required")
	}
	expect, err := s.edits()
	if err != nil {
		return none, err
	}
	files, err := w.sources(s.Files, refused)
	if err != nil {
		return none, err
	}
	if len(files.globs) == 0 && (len(s.Exclude) > 0 || s.NoIgnore) {
		return none, usage("leave them out", "--exclude and --no-ignore go with globs")
	}
	step := actions.PatternReplace{SedPattern: s.Scripts, Syntax: s.Syntax, Quiet: s.Printed, Binary: s.Binary}
	var steps []millrace.Step
	if len(files.files) > 0 {
		named := step
		named.Files = files.files
		raw := braced(s.Scripts...) || braced(files.files...)
		steps = append(steps, millrace.Step{ID: stepFix, Action: named, Raw: raw, Expect: expect})
	}
	if len(files.globs) > 0 {
		if err := w.chosen(&step, s, files); err != nil {
			return none, err
		}
		raw := braced(s.Scripts...) || braced(step.Directory, step.FilePattern) || braced(step.ExcludePatterns...)
		steps = append(steps, millrace.Step{ID: numbered(stepFix, len(steps)), Action: step, Raw: raw, Expect: expect})
	}
	if err := s.oneBound(len(steps)); err != nil {
		return none, err
	}
	return s.build("sed", s.Scripts[0], steps...)
}

// chosen selects the files by globs, in the deepest directory above all of the globs.
func (w Where) chosen(step *actions.PatternReplace, s Sed, files sources) error {
	dir := files.globs[0].dir
	for _, g := range files.globs {
		dir = common(dir, g.dir)
	}
	if dir != "." {
		step.Directory = dir
	}
	texts := make([]string, len(files.globs))
	for i, g := range files.globs {
		texts[i] = g.from(dir)
	}
	step.FilePattern, step.NoIgnore = union(texts), s.NoIgnore
	for _, text := range s.Exclude {
		text, err := w.Filter(text)
		if err != nil {
			return err
		}
		if strings.Contains(strings.TrimRight(text, "/"), "/") && dir != "." {
			var ok bool
			if text, ok = strings.CutPrefix(text, escape(dir)+"/"); !ok {
				return usage("write it as the globs are written",
					"--exclude '%s' begins elsewhere than the globs, at '%s'",
					shown(text), shown(dir))
			}
			text = anchored(text)
		}
		step.ExcludePatterns = append(step.ExcludePatterns, text)
	}
	for _, name := range files.files {
		if dir == "." || strings.HasPrefix(name, dir+"/") {
			step.ExcludePatterns = append(step.ExcludePatterns, anchored(escape(below(name, dir))))
		}
	}
	return nil
}
