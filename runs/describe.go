package runs

import "slices"

// CommandDoc describes a command for people and models. It belongs to the caller.
type CommandDoc struct {
	// Name is the name of the command, Summary a sentence on what it does.
	Name    string `json:"name"`
	Summary string `json:"summary"`
	// ReadOnly means that it changes nothing.
	ReadOnly bool `json:"read_only"`
	// Actions are what it can do.
	Actions []ActionDoc `json:"actions"`
}

// ActionDoc describes an action of a command.
type ActionDoc struct {
	Name    string `json:"name"`
	Summary string `json:"summary"`
	// Params are the parameters beside "action": those that are required, then those of which there must be one, then
	// the others.
	Params []ParamDoc `json:"params"`
}

// ParamDoc describes a parameter of an action.
type ParamDoc struct {
	Name string `json:"name"`
	// Type describes what it takes: "a string", "true or false", "a whole number".
	Type string `json:"type"`
	// Required means that it must be given. OneOf are the parameters of which exactly one must be given, this one among
	// them; nil if it is none of these.
	Required bool     `json:"required,omitempty"`
	OneOf    []string `json:"one_of,omitempty"`
	// Enum are the strings that it can be, nil for any.
	Enum []string `json:"enum,omitempty"`
	// Doc is what it means, in a sentence.
	Doc string `json:"doc"`
}

// Describe returns the documentation of a command. The error reports a command that is not available.
func (t Tools) Describe(name string) (CommandDoc, error) {
	c, err := t.find(name)
	if err != nil {
		return CommandDoc{}, err
	}
	doc := CommandDoc{Name: c.name, Summary: c.doc, ReadOnly: c.readOnly}
	for i := range c.acts {
		if a := &c.acts[i]; a.folded == "" {
			doc.Actions = append(doc.Actions, c.describe(a))
		}
	}
	return doc, nil
}

func (c *command) describe(a *act) ActionDoc {
	doc := ActionDoc{Name: a.name, Summary: a.doc, Params: []ParamDoc{}}
	for _, name := range slices.Concat(a.required, a.either, a.optional) {
		p := c.param(name)
		one := ParamDoc{Name: name, Type: p.typeName(), Required: slices.Contains(a.required, name), Doc: p.doc}
		one.Enum = slices.Clone(p.words)
		if slices.Contains(a.either, name) {
			one.OneOf = slices.Clone(a.either)
		}
		doc.Params = append(doc.Params, one)
	}
	return doc
}

// typeName reports what the parameter takes.
func (p *param) typeName() string {
	switch p.kind {
	case flag:
		return "true or false"
	case whole:
		return "a whole number"
	case ident:
		return "a whole number or a string"
	case moment:
		return "an RFC 3339 time"
	case digest:
		return "hexadecimal digits"
	case definition:
		return "an object or a string"
	case variables:
		if p.typed {
			return "a list of {key, value, variable_type}"
		}
		return "a list of {key, value}"
	case text, word:
	}
	return "a string"
}
