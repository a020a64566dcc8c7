package byname

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/cmd/millrace/internal/registry"
	"github.com/millrace-go/millrace/cmd/millrace/internal/render"
	"github.com/millrace-go/millrace/command"
	"github.com/millrace-go/millrace/fsutil"
)

// pipeline is a pipeline in JSON.
type pipeline struct {
	Name string `json:"name"`
	// File is relative to the root of the tree, or absolute.
	File string `json:"file"`
	// Title is the name in the pipeline.
	Title string `json:"title,omitempty"`
	// Shadowed means that another file of the same name is used.
	Shadowed    bool       `json:"shadowed,omitempty"`
	Description string     `json:"description,omitempty"`
	Variables   []variable `json:"variables"`
	Steps       []step     `json:"steps"`
	Error       string     `json:"error,omitempty"`
}

// variable is a variable of a pipeline in JSON.
type variable struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	Required    bool   `json:"required"`
	Default     any    `json:"default,omitempty"`
	Enum        []any  `json:"enum,omitempty"`
	Description string `json:"description,omitempty"`
}

// step is a step of a pipeline in JSON. Program is the command line that it runs.
type step struct {
	ID      string `json:"id"`
	Action  string `json:"action"`
	Program string `json:"program,omitempty"`
}

// told returns the description of an entry.
func told(e millrace.LibraryEntry) pipeline {
	p := pipeline{Name: e.Name, File: FileOf(e), Shadowed: e.Shadowed, Variables: []variable{}, Steps: []step{}}
	if e.Err != nil {
		p.Error = e.Err.Error()
		return p
	}
	p.Title, p.Description = e.Pipeline.Name(), e.Pipeline.Description()
	for _, v := range e.Pipeline.Variables() {
		p.Variables = append(p.Variables, variable{
			Name: v.Name, Type: v.Type, Required: !v.HasValue(), Default: v.Default, Enum: v.Enum,
			Description: v.Description,
		})
	}
	for _, s := range e.Pipeline.Steps() {
		one := step{ID: s.ID, Action: s.Action.Spec().Name}
		if run, _, ok := registry.Command(s.Action); ok {
			one.Program = command.Pattern(run.Words()...)
		}
		p.Steps = append(p.Steps, one)
	}
	return p
}

// values returns the variables in the form in which they are typed after the name.
func (p pipeline) values() string {
	var words []string
	for _, v := range p.Variables {
		if word := v.Name + "="; v.Required {
			words = append(words, word+strings.ToUpper(v.Type))
		} else {
			value := valueOf(v.Default)
			if strings.ContainsAny(value, " \t\n\"'*$") {
				value = "'" + strings.ReplaceAll(value, "'", `'\''`) + "'"
			}
			words = append(words, "["+word+value+"]")
		}
	}
	return render.Line(strings.Join(words, " "))
}

// valueOf returns a value for a line: a string unchanged, anything else as JSON.
func valueOf(v any) string {
	if text, ok := v.(string); ok {
		return text
	}
	text, err := json.Marshal(v)
	if err != nil {
		return "?"
	}
	return string(text)
}

// lines returns a line for each pipeline.
func lines(all []pipeline) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, p := range all {
		says := render.Line(cmp.Or(p.Description, p.Title))
		if values := p.values(); values != "" {
			says = strings.TrimSuffix(says, ".") + ": " + values
		}
		switch {
		case p.Error != "":
			says = "unusable: " + render.Line(p.Error)
		case p.Shadowed:
			says = "hidden by the one above"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", fsutil.Visible(p.Name), fsutil.Visible(p.File), says)
	}
	_ = w.Flush() // a Builder never fails
	return b.String()
}

// row writes a line of a table, without empty cells at its end.
func row(w io.Writer, cells ...string) {
	for cells[len(cells)-1] == "" {
		cells = cells[:len(cells)-1]
	}
	_, _ = fmt.Fprintf(w, "  %s\n", strings.Join(cells, "\t")) // a Builder never fails
}

// description returns the full description of one pipeline.
func description(p pipeline) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n%s\n", fsutil.Visible(p.Name), render.Line(p.Title), fsutil.Visible(p.File))
	if p.Description != "" {
		fmt.Fprintf(&b, "\n%s\n", render.Line(p.Description))
	}
	if usage := p.values(); usage != "" {
		fmt.Fprintf(&b, "\n  millrace run %s %s\n", p.Name, usage)
	} else {
		fmt.Fprintf(&b, "\n  millrace run %s\n", p.Name)
	}
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for i, v := range p.Variables {
		if i == 0 {
			fmt.Fprintf(w, "\nvariables\n")
		}
		says := v.Type
		if v.Required {
			says += ", required"
		} else {
			says += ", default " + cmp.Or(valueOf(v.Default), `""`)
		}
		if v.Enum != nil {
			says += ", one of " + valueOf(v.Enum)
		}
		row(w, v.Name, render.Line(says), render.Line(v.Description))
	}
	_ = w.Flush() // a Builder never fails
	fmt.Fprintf(w, "\nsteps\n")
	for _, s := range p.Steps {
		row(w, fsutil.Visible(s.ID), s.Action, render.Line(s.Program))
	}
	_ = w.Flush()
	return b.String()
}
