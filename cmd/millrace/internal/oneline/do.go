package oneline

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
)

// Do are the arguments of `millrace do ACTION [name=value…] [then ACTION …]`.
type Do struct {
	Common
	Args []string
	// Decoder has the actions, and describes their parameters.
	Decoder millrace.Decoder
}

// then is the separator between two steps.
const then = "then"

// call is one action with its arguments.
type call struct {
	action string
	args   []string
}

// Do returns the pipeline. A step after `then` gets the files of the step before it, unless it names files itself. A
// step that needs several inputs gets the outputs of all earlier steps that no other step has used.
func (w Where) Do(d Do) (millrace.Pipeline, error) {
	var none millrace.Pipeline
	expect, err := d.edits()
	if err != nil {
		return none, err
	}
	calls, err := split(d.Args)
	if err != nil {
		return none, err
	}
	var names []string
	taken := make(map[string]bool) // ids of the steps whose files are already used
	steps := make([]map[string]any, 0, len(calls))
	ids := make([]string, len(calls))
	finds := moving{} // steps that list the files matched by globs
	for i, c := range calls {
		names = append(names, c.action)
		doc, _ := d.Decoder.Describe(c.action) // the decoder reports an unknown action
		found, err := w.filesByGlob(&c, doc, &finds)
		if err != nil {
			return none, err
		}
		for _, find := range finds.finds[len(finds.finds)-len(found):] {
			steps = append(steps, map[string]any{"id": find.ID, "action": "list", "params": find.Action})
		}
		params, err := w.params(c, doc)
		if err != nil {
			return none, err
		}
		same := 0
		for _, before := range calls[:i] {
			if before.action == c.action {
				same++
			}
		}
		ids[i] = numbered(c.action, same)
		step := map[string]any{"id": ids[i], "action": c.action, "params": params}
		switch {
		case len(found) == 1:
			step["input_from"] = found[0]
		case len(found) > 1:
			step["input_from_all"] = found
		case i > 0 && !givesFiles(params):
			for _, id := range chain(step, params, doc, ids[:i], taken) {
				taken[id] = true
			}
		}
		w.goHome(c.action, params)
		if i == len(calls)-1 && expect != (millrace.Expect{}) {
			step["expect"] = expect
		}
		steps = append(steps, step)
	}
	text, err := json.Marshal(map[string]any{"name": d.name("do", strings.Join(names, " then ")), "steps": steps})
	if err != nil {
		return none, fmt.Errorf("arguments as JSON: %w", err)
	}
	p, err := d.Decoder.Decode(text)
	return p, explained(err)
}

// filesByGlob removes files=GLOB from the arguments of an action, adds the steps that list the files matched by the
// globs, and returns their ids. It leaves the arguments alone if one of the files is a name: names and globs have
// different advice.
func (w Where) filesByGlob(c *call, doc millrace.ActionDoc, finds *moving) (ids []string, err error) {
	if doc.Input != actions.InputFiles && doc.Input != actions.InputOptional {
		return nil, nil
	}
	var globs []string
	others := make([]string, 0, len(c.args))
	for _, arg := range c.args {
		text, ok := strings.CutPrefix(arg, "files=")
		if !ok {
			others = append(others, arg)
			continue
		}
		name, err := w.place(text)
		if err != nil || !isGlob(text) || isJSONList(text) || strings.Contains(text, "{{") || w.look(name) != Nothing {
			return nil, nil // a wrong name is reported with its parameter
		}
		globs = append(globs, text)
	}
	for _, text := range globs {
		g, err := w.glob(w.slashes(text))
		if err != nil {
			return nil, err
		}
		ids = append(ids, finds.find(g))
	}
	c.args = others
	return ids, nil
}

// split divides the arguments into steps.
func split(args []string) ([]call, error) {
	var calls []call
	begins := true
	for _, arg := range args {
		switch {
		case arg == then && begins:
			return nil, usage("write an action before and behind it", "'%s' stands between two steps", then)
		case arg == then:
			begins = true
		case begins && strings.Contains(arg, "="):
			return nil, usage("write the action first, then its parameters", "'%s' is not an action", shown(arg))
		case begins:
			calls = append(calls, call{action: arg})
			begins = false
		default:
			last := &calls[len(calls)-1]
			last.args = append(last.args, arg)
		}
	}
	if begins {
		return nil, usage("millrace actions lists them", "an action is missing")
	}
	return calls, nil
}

func givesFiles(params map[string]any) bool {
	for _, name := range []string{"files", "paths", "path", "renames"} {
		if _, ok := params[name]; ok {
			return true
		}
	}
	return false
}

// chain connects a step to the files of earlier steps, and returns the ids of these steps.
func chain(step, params map[string]any, doc millrace.ActionDoc, before []string, taken map[string]bool) []string {
	last := before[len(before)-1]
	switch doc.Input {
	case actions.InputFiles, actions.InputOptional:
		step["input_from"] = last
		return []string{last}
	case actions.InputMany:
		free := slices.DeleteFunc(slices.Clone(before), func(id string) bool { return taken[id] })
		step["input_from_all"] = free
		return free
	}
	chosen := slices.ContainsFunc([]string{"file_pattern", "directory"},
		func(name string) bool { _, ok := params[name]; return ok })
	takes := slices.ContainsFunc(doc.Params,
		func(p millrace.ParamDoc) bool { return p.Name == "files" && p.Type == listOfStrings })
	if takes && !chosen {
		params["files"] = "{{" + last + ".files}}"
		return []string{last}
	}
	return nil
}
