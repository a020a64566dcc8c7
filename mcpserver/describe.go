package mcpserver

import (
	"context"
	"fmt"
	"strings"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
)

type describeArgs struct {
	Action *string `json:"action"`
}

// describeActions describes what steps can do.
func describeActions(_ context.Context, c *call) (*answer, error) {
	var args describeArgs
	if err := c.decode(&args); err != nil {
		return nil, err
	}
	if args.Action == nil {
		return c.allActions(), nil
	}
	doc, ok := c.actions.Describe(*args.Action)
	if !ok {
		doc, ok = c.actions.DescribeTool(*args.Action)
	}
	if !ok {
		known := make(map[string]*schema)
		for _, name := range c.actions.Actions.Names() {
			known[name] = nil
		}
		return nil, &nextError{
			err: &millrace.ValidationError{Problems: []millrace.Problem{{
				Pointer: "/action", Code: "unknown_action", Message: "unknown action '" + shown(*args.Action) + "'",
				Hint: nearestName(*args.Action, known),
			}}},
			next: "call describe_actions without action for the list",
		}
	}
	data, err := asObject(doc)
	if err != nil {
		return nil, err
	}
	data = map[string]any{"summary": doc.Name + ": " + doc.Summary, "action": data}
	return &answer{texts: []string{describe(doc)}, data: data}, nil
}

// allActions returns a line for each action and each host tool.
func (s *Server) allActions() *answer {
	var b strings.Builder
	names, tools := map[string]string{}, map[string]string{}
	for _, name := range s.actions.Actions.Names() {
		if doc, ok := s.actions.Describe(name); ok {
			names[name] = doc.Summary + onlyReads(doc)
			fmt.Fprintf(&b, "%s: %s\n", name, names[name])
		}
	}
	for _, name := range s.actions.Tools.Names() {
		if doc, ok := s.actions.DescribeTool(name); ok {
			tools[name] = doc.Summary + onlyReads(doc)
			fmt.Fprintf(&b, "tool %s: %s\n", name, tools[name])
		}
	}
	const more = "describe_actions with action tells the parameters of one."
	b.WriteString(more)
	data := map[string]any{"summary": more, "actions": names}
	if len(tools) > 0 {
		data["tools"] = tools
	}
	return &answer{texts: []string{b.String()}, data: data}
}

func onlyReads(doc millrace.ActionDoc) string {
	if doc.ReadOnly {
		return " (only reads)"
	}
	return ""
}

// describe returns the description of an action with its parameters, one per line.
func describe(doc millrace.ActionDoc) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s%s\n", doc.Name, doc.Summary, onlyReads(doc))
	if text := inputs(doc.Input); text != "" {
		fmt.Fprintf(&b, "%s\n", text)
	}
	for _, p := range doc.Params {
		fmt.Fprintf(&b, "- %s: %s", p.Name, p.Type)
		if p.Required {
			b.WriteString(", required")
		}
		if len(p.Enum) > 0 {
			fmt.Fprintf(&b, ", one of %s", strings.Join(p.Enum, ", "))
		}
		if p.Doc != "" {
			fmt.Fprintf(&b, ". %s", p.Doc)
		}
		b.WriteByte('\n')
	}
	return strings.TrimRight(b.String(), "\n")
}

func inputs(input actions.Input) string {
	switch input {
	case actions.InputFiles:
		return "files: from input_from of the step, or the parameter files"
	case actions.InputMany:
		return "files: from input_from_all of the step, at least two steps"
	case actions.InputOptional:
		return "files: optional, from input_from of the step"
	}
	return ""
}
