package runs

import "slices"

// CommandDoc describes a command for people and models. It belongs to the caller.
type CommandDoc struct {
	// Name is the name of the command. Summary describes the command in a sentence.
	Name    string `json:"name"`
	Summary string `json:"summary"`
	// ReadOnly means that the command changes nothing.
	ReadOnly bool `json:"read_only"`
	// Actions are the actions of the command.
	Actions []ActionDoc `json:"actions"`
}

// ActionDoc describes an action of a command.
type ActionDoc struct {
	Name    string `json:"name"`
	Summary string `json:"summary"`
	// Params are the parameters except "action": required parameters first, then parameters of which exactly one
	// must be given, then the others.
	Params []ParamDoc `json:"params"`
}

// ParamDoc describes a parameter of an action.
type ParamDoc struct {
	Name string `json:"name"`
	// Type describes the accepted values: "a string", "true or false", "a whole number".
	Type string `json:"type"`
	// Required means that the parameter must be given. OneOf are the parameters of which exactly one must be given,
	// including this parameter; nil if it is not among such parameters.
	Required bool     `json:"required,omitempty"`
	OneOf    []string `json:"one_of,omitempty"`
	// Enum are the allowed strings, nil for any.
	Enum []string `json:"enum,omitempty"`
	// Doc is the meaning of the parameter, in a sentence.
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

// typeName returns the description of the accepted values.
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
