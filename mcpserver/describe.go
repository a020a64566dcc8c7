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

// describeActions tells what steps can do.
func describeActions(_ context.Context, c *call) (*answer, error) {
	var args describeArgs
	if err := c.decode(&args); err != nil {
		return nil, err
	}
	if args.Action == nil {
		return &answer{texts: []string{c.allActions()}}, nil
	}
	doc, ok := c.cfg.Decoder.Describe(*args.Action)
	if !ok {
		if doc, ok = c.cfg.Decoder.DescribeTool(*args.Action); ok {
			return &answer{texts: []string{describe(doc)}}, nil
		}
		known := make(map[string]*schema)
		for _, name := range c.cfg.Decoder.Actions.Names() {
			known[name] = nil
		}
		return nil, &nextError{
			err: &millrace.ValidationError{Problems: []millrace.Problem{{
				Pointer: "/action", Code: "unknown_action", Message: "there is no action '" + shown(*args.Action) + "'", Hint: nearest(*args.Action, known),
			}}},
			next: "call describe_actions without action for the list",
		}
	}
	return &answer{texts: []string{describe(doc)}}, nil
}

// allActions is a line for each action, and for each tool of the host.
func (s *Server) allActions() string {
	var b strings.Builder
	for _, name := range s.cfg.Decoder.Actions.Names() {
		if doc, ok := s.cfg.Decoder.Describe(name); ok {
			fmt.Fprintf(&b, "%s: %s%s\n", name, doc.Summary, onlyReads(doc))
		}
	}
	for _, name := range s.cfg.Decoder.Tools.Names() {
		if doc, ok := s.cfg.Decoder.DescribeTool(name); ok {
			fmt.Fprintf(&b, "tool %s: %s%s\n", name, doc.Summary, onlyReads(doc))
		}
	}
	b.WriteString("describe_actions with action tells the parameters of one.")
	return b.String()
}

func onlyReads(doc millrace.ActionDoc) string {
	if doc.ReadOnly {
		return " (only reads)"
	}
	return ""
}

// describe is an action with its parameters, a line each.
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
