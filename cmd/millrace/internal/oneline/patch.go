package oneline

import (
	"strings"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
)

// Patch are the arguments of `millrace patch [FILE]`.
type Patch struct {
	Common
	// File is read by Where.Read; "-" is standard input.
	File string
	// Options decide how the patch is read and placed; its Text is not used. Path and Directory are relative to the
	// working directory. The names in a patch are relative to the root of the tree, or to Directory.
	Options actions.Patch
}

// Patch returns the pipeline.
func (w Where) Patch(p Patch) (millrace.Pipeline, error) {
	var none millrace.Pipeline
	expect, err := p.edits()
	if err != nil {
		return none, err
	}
	act := p.Options
	for _, name := range []*string{&act.Path, &act.Directory} {
		if *name == "" {
			continue
		}
		if *name, err = w.place(*name); err != nil {
			return none, err
		}
	}
	if act.Directory != "" && act.Path != "" {
		if !strings.HasPrefix(act.Path, act.Directory+"/") && act.Directory != "." {
			return none, usage("", "--path '%s' is not in --in '%s'", shown(act.Path), shown(act.Directory))
		}
		act.Path = below(act.Path, act.Directory)
	}
	data, err := w.read(p.File)
	if err != nil {
		return none, err
	}
	act.Text = string(data)
	if strings.TrimSpace(act.Text) == "" {
		return none, usage("", "the patch is empty")
	}
	file := p.File
	if file == "-" {
		file = ""
	}
	raw := braced(act.Path, act.Directory) || strings.HasPrefix(strings.TrimSpace(act.Text), "{{")
	return p.build("patch", file, millrace.Step{ID: "patch", Action: act, Raw: raw, Expect: expect})
}
