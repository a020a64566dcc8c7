package config

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/millrace-go/millrace/actions"
)

// decoder stores the content of one file in a Config, and collects all problems.
type decoder struct {
	file     string
	problems []Problem
}

// fail records a problem at a node.
func (d *decoder) fail(at *yaml.Node, hint, format string, args ...any) {
	d.problems = append(d.problems, Problem{
		File: d.file, Line: at.Line, Column: at.Column, Message: fmt.Sprintf(format, args...), Hint: hint,
	})
}

// meant returns the hint at the word that was probably meant, "" if no word is near.
func meant(word string, words []string) string {
	near, ok := actions.Nearest(word, words)
	if !ok {
		return ""
	}
	return fmt.Sprintf("did you mean %q?", near)
}

// unknown reports an unknown name, with the known names in the hint.
func (d *decoder) unknown(at *yaml.Node, name string, names []string, format string, args ...any) {
	hint := "the names are " + strings.Join(names, ", ")
	if near := meant(name, names); near != "" {
		hint = near + " T" + hint[1:]
	}
	d.fail(at, hint, format, args...)
}

// decode reads a file. It only uses the tree of nodes, so that YAML converts no values.
func decode(file, text string, project bool, c *Config) []Problem {
	d := &decoder{file: file}
	top, ok := d.parse(text)
	if !ok || top == nil {
		return d.problems
	}
	limits := &c.Limits
	if project {
		limits = &c.Project
	}
	d.mapping(top, func(name string, key, value *yaml.Node) {
		i := slices.IndexFunc(keys, func(k Key) bool { return k.Name == name })
		switch {
		case i < 0:
			hint := meant(name, names(project))
			if hint == "" {
				hint = "`millrace help config` lists all keys"
			}
			d.fail(key, hint, "unknown key %q", name)
		case project && !keys[i].Project:
			d.fail(key, "a project's file comes with its files and can only forbid: "+strings.Join(names(true), ", "),
				"%q cannot stand in a project's file", name)
		default:
			keys[i].set(d, value, c, limits)
		}
	})
	return d.problems
}

// parse returns the mapping of the text, nil if it is empty.
func (d *decoder) parse(text string) (top *yaml.Node, ok bool) {
	loader, err := yaml.NewLoader(strings.NewReader(text))
	if err != nil {
		d.syntax(err)
		return nil, false
	}
	var doc, second yaml.Node
	switch err := loader.Load(&doc); {
	case errors.Is(err, io.EOF):
		return nil, true
	case err != nil:
		d.syntax(err)
		return nil, false
	}
	if err := loader.Load(&second); err == nil {
		d.fail(&second, "", "there is a second document")
		return nil, false
	} else if !errors.Is(err, io.EOF) {
		d.syntax(err)
		return nil, false
	}
	top = &doc
	for top.Kind == yaml.DocumentNode && len(top.Content) == 1 {
		top = top.Content[0]
	}
	if top.Kind == yaml.ScalarNode && top.Tag == "!!null" && top.Value == "" {
		return nil, true // only comments
	}
	if !d.plain(top) {
		return nil, false
	}
	if top.Kind != yaml.MappingNode {
		d.fail(top, "", "a configuration is a list of `key: value`")
		return nil, false
	}
	return top, true
}

// syntax records invalid YAML.
func (d *decoder) syntax(err error) {
	p := Problem{File: d.file, Message: err.Error()}
	if e, ok := errors.AsType[*yaml.LoadError](err); ok && e.Message != "" {
		p.Message, p.Line, p.Column = e.Message, e.Mark.Line, e.Mark.Column
	}
	p.Message = fmt.Sprintf("no YAML: %s", strings.Trim(fmt.Sprintf("%q", p.Message), `"`))
	d.problems = append(d.problems, p)
}

// plain refuses features by which one place of a file affects another: anchors, aliases, merge keys, custom tags.
func (d *decoder) plain(n *yaml.Node) bool {
	switch {
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		d.fail(n, "write the value where it is meant", "anchors and aliases are not taken")
		return false
	case n.Tag == "!!merge":
		d.fail(n, "write the keys where they are meant", "merge keys are not taken")
		return false
	case n.Style&yaml.TaggedStyle != 0:
		d.fail(n, "leave it out", "tags are not taken")
		return false
	}
	for _, c := range n.Content {
		if !d.plain(c) {
			return false
		}
	}
	return true
}

// mapping calls each with the keys and values of a mapping; it refuses repeated keys.
func (d *decoder) mapping(n *yaml.Node, each func(name string, key, value *yaml.Node)) {
	seen := make(map[string]bool)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		switch {
		case key.Kind != yaml.ScalarNode || key.Tag != "!!str":
			d.fail(key, "", "a key is a word")
		case seen[key.Value]:
			d.fail(key, "", "the key %q stands here twice", key.Value)
		default:
			seen[key.Value] = true
			each(key.Value, key, value)
		}
	}
}
