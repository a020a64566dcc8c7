package gocode

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/change"
)

// Fix runs analyzers over packages and makes the changes that they suggest, as "go fix" does. Each change is a splice
// of its own, whose Origin.Edit is the index of the analyzer. A change that overlaps an earlier one is left for the
// next visit.
//
// The data of the step is
//
//	{"diagnostics": [{"file": "a.go", "line": 3, "column": 1, "analyzer": "any", "edit": 0, "message": "…",
//	  "fixed": true}],
//	 "fixed": 1, "left": 0}
//
// where left counts the diagnostics whose change was not made. To make those, visit the step again, or give it a
// retry_if on {{fix.data.left}}. Packages with type errors are left out with a warning; if all have type errors, the
// step fails.
type Fix struct {
	// Packages are patterns of "go list", relative to Dir. Nil means ./...
	Packages []string `json:"packages,omitempty" doc:"Packages, as go list takes them from dir. Default: [./...]."`
	// Dir is a directory of the module. "" is the root of the tree.
	Dir string `json:"dir,omitempty" doc:"Directory of the module. Default: the root of the tree."`
	// Analyzers are names of analyzers. Nil means the analyzers of "go fix": modernize and inline.
	Analyzers []string `json:"analyzers,omitempty" doc:"Analyzers by name: modernize (all of its), inline, printf, assign, and others; a wrong name lists them. Default: [modernize, inline]."`
	// Files limits the changes to these files. Nil without input_from means all files.
	Files []string `json:"files,omitempty" doc:"Change these files alone. Default: all files of the packages."`
	// Own are analyzers of the host. A step can name them like the others.
	Own []*analysis.Analyzer `json:"-"`
}

// Spec implements [actions.Action].
func (Fix) Spec() actions.Spec {
	return actions.Spec{
		Name: "go_fix", Summary: "Make the changes that Go analyzers suggest, as go fix does", Data: true,
		Exclusive: true,
	}
}

// Touches implements [actions.Toucher]: the fixes are only known when the step runs.
func (Fix) Touches() (reads, writes []string, known bool) { return nil, nil, false }

// Words returns the command that the step runs. The host has to allow it.
func (f Fix) Words() []string { return listWords(f.Packages) }

// Validate implements [actions.Validator].
func (f Fix) Validate(c *actions.Check) {
	checkPackages(c, f.Packages)
	for i, name := range f.Analyzers {
		if _, unknown := chosen([]string{name}, f.Own); unknown != "" && !c.Templated(name) {
			c.Problemf(fmt.Sprintf("/analyzers/%d", i), "unknown_analyzer", "write one of: "+analyzerNames(f.Own),
				"unknown analyzer '%s'", name)
		}
	}
}

// Run implements [actions.Action].
func (f Fix) Run(ctx context.Context, c *actions.Call) (actions.Outcome, error) {
	analyzers, unknown := chosen(f.Analyzers, f.Own)
	if unknown != "" {
		return actions.Outcome{}, actions.Permanent(fmt.Errorf(
			"unknown analyzer '%s': write one of: %s", unknown, analyzerNames(f.Own)))
	}
	var found []*finding
	var checked *tree
	err := inPackages(ctx, c, f.Dir, f.Packages, func(t *tree) (err error) {
		found, err = t.analyze(ctx, c, analyzers)
		checked = t
		return err
	})
	if err != nil {
		return actions.Outcome{}, err
	}
	only, err := limited(c)
	if err != nil {
		return actions.Outcome{}, err
	}
	splices := choose(found, only, c.Step)
	data, err := report(c, found)
	if err != nil {
		return actions.Outcome{}, err
	}
	out, err := checked.stage(ctx, c, splices)
	out.Data = data
	return out, err
}

// analyze runs the analyzers over the packages without type errors.
func (t *tree) analyze(ctx context.Context, c *actions.Call, analyzers []*analysis.Analyzer) ([]*finding, error) {
	work, err := t.sound(c)
	if err != nil {
		return nil, err
	}
	order := make(map[*analysis.Analyzer]int)
	var run []*analysis.Analyzer
	for i, a := range analyzers {
		ended := *a // checks the context before each package
		ended.Run = func(pass *analysis.Pass) (any, error) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			return a.Run(pass)
		}
		run = append(run, &ended)
		order[&ended] = i
	}
	// Sequential stays in this goroutine, where a panic of an analyzer becomes the error of the step.
	graph, err := checker.Analyze(run, work, &checker.Options{Sequential: true})
	if err != nil {
		return nil, actions.Permanent(err)
	}
	var found []*finding
	for _, act := range graph.Roots {
		if act.Err != nil {
			err := fmt.Errorf("analyzer %s, package %s: %w", act.Analyzer.Name, act.Package.PkgPath, act.Err)
			return nil, errors.Join(ctx.Err(), err)
		}
		for _, d := range act.Diagnostics {
			found = append(found, t.finding(d, act.Analyzer.Name, order[act.Analyzer]))
		}
	}
	slices.SortStableFunc(found, compareFindings)
	return slices.CompactFunc(found, sameFinding), nil
}

// edits returns the splices for the current text of a file.
type edits func(name string, now []byte) ([]change.Splice, error)

// stage makes the splices, then the edits, and then removes the imports that are no longer needed.
func (t *tree) stage(
	ctx context.Context, c *actions.Call, splices map[string][]change.Splice, more ...edits,
) (actions.Outcome, error) {
	c.Files = sortedNames(splices)
	texts := t.textsInTree()
	out, err := c.EditSplices(ctx, func(name string, old []byte) ([]change.Splice, error) {
		if !bytes.Equal(old, texts[name]) {
			return nil, errors.New("has been changed while its package was checked")
		}
		return splices[name], nil
	})
	more = append(more, func(name string, now []byte) ([]change.Splice, error) {
		return unneeded(texts[name], now, t.packageName)
	})
	for _, edit := range more {
		if err == nil {
			_, err = c.EditSplices(ctx, edit)
		}
	}
	return out, err
}

// packageName returns the name of the package with an import path, a guess if the package was not loaded.
func (t *tree) packageName(path string) string {
	if pkg := t.all[path]; pkg != nil {
		return pkg.Name
	}
	return assumedName(path)
}
