package runs

import (
	"errors"
	"slices"
	"strings"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/params"
	"github.com/millrace-go/millrace/internal/strictjson"
)

// call is the text of a call being decoded.
type call struct {
	collector
	*command
	lenient bool
	act     *act
	args    args
	given   []string // parameters in the text, by their main names
}

// decode reads the arguments of a command. It does not decode the definition of a pipeline.
func (c *command) decode(data []byte, lenient bool) *call {
	d := &call{command: c, lenient: lenient}
	if len(data) == 0 {
		data = []byte("{}")
	}
	root, err := strictjson.Parse(data, strictjson.Limits{MaxBytes: c.maxBytes})
	if err != nil {
		d.syntax(err)
		return d
	}
	places := strictjson.NewLocator(data)
	d.at = places.LineColumn
	if root.Kind != strictjson.Object {
		d.add("", params.CodeWrongType, "", "%s takes an object, got %s", c.name, root.Kind)
		return d
	}
	d.readAction(root.Get("action"))
	for _, m := range root.Members {
		if m.Name != "action" {
			d.member(m)
		}
	}
	d.offset = root.Offset
	d.missing()
	if d.args.run.Project != "" {
		d.args.filter.Project, d.args.create.Project = d.args.run.Project, d.args.run.Project
	}
	return d
}

func (d *call) syntax(err error) {
	p := millrace.Problem{Code: codeInvalidJSON, Message: d.name + ": " + err.Error()}
	if syntax, ok := errors.AsType[*strictjson.SyntaxError](err); ok {
		p.Line, p.Column = syntax.Line, syntax.Column
	}
	switch {
	case errors.Is(err, strictjson.ErrTooLarge):
		p.Code = codeLargeJSON
	case errors.Is(err, strictjson.ErrTooDeep):
		p.Code = codeDeepJSON
	}
	d.take(p)
}

// readAction finds the action. Without an action the parameters are still checked, but none is reported as missing.
func (d *call) readAction(n *strictjson.Node) {
	all := strings.Join(d.names(d.lenient), ", ")
	switch {
	case n == nil:
		d.add("/action", codeNoAction, "", "%s requires 'action' (%s)", d.name, all)
		return
	case n.Kind != strictjson.String:
		d.offset = n.Offset
		d.wrongType("action", "a string", n)
		return
	}
	d.offset = n.Offset
	if d.act = d.command.act(n.Text, d.lenient); d.act == nil {
		d.add("/action", codeBadAction, d.meantAction(n.Text), "unknown action '%s' for %s (%s)", shown(n.Text), d.name,
			all)
	}
}

// meantAction returns a hint with the action that was probably meant, or with the command that has it.
func (d *call) meantAction(name string) string {
	table := commands()
	for i := range table {
		if table[i].act(name, false) != nil {
			return table[i].name + " has it"
		}
	}
	return d.meant(name, d.names(d.lenient))
}

// member reads one parameter.
func (d *call) member(m strictjson.Member) {
	d.offset = m.NameOffset
	p := d.find(m.Name)
	if p == nil {
		hint := d.meant(m.Name, d.paramNames(d.lenient))
		d.add("/"+strictjson.EscapeToken(m.Name), params.CodeUnknownField, hint, "unknown parameter '%s'",
			shown(m.Name))
		return
	}
	if slices.Contains(d.given, p.name) {
		d.add("/"+m.Name, codeTwoForms, "", "'%s' and '%s' are the same: give one of them", p.name, p.alias)
		return
	}
	d.given = append(d.given, p.name)
	if d.act != nil && !d.act.takes(p.name) {
		d.misplaced(p.name, m.Name)
		return
	}
	d.offset = m.Value.Offset
	if v, ok := d.read(p, m.Name, m.Value); ok {
		p.set(&d.args, v)
	}
}

// find returns the parameter with a name, nil if not found.
func (d *call) find(name string) *param {
	for i := range d.params {
		p := &d.params[i]
		if (p.name == name || d.lenient && p.alias == name) && (d.lenient || !p.lenient) {
			return p
		}
	}
	return nil
}

// misplaced reports a parameter that only other actions have.
func (d *call) misplaced(name, written string) {
	var others []string
	for i := range d.acts {
		if d.acts[i].takes(name) {
			others = append(others, d.acts[i].name)
		}
	}
	take := "take"
	if len(others) == 1 {
		take = "takes"
	}
	d.add("/"+written, codeMisplaced, "", "'%s' does not belong to action '%s' (%s %s it)", written, d.act.name,
		strings.Join(others, ", "), take)
}

// missing reports the required parameters that are missing.
func (d *call) missing() {
	if d.act == nil {
		return
	}
	for _, name := range d.act.required {
		if !slices.Contains(d.given, name) {
			d.add("/"+name, params.CodeMissing, "", "%s action requires '%s' parameter", d.act.name, name)
		}
	}
	var either []string
	for _, name := range d.act.either {
		if slices.Contains(d.given, name) {
			either = append(either, name)
		}
	}
	switch all := strings.Join(d.act.either, "' or '"); {
	case len(d.act.either) == 0 || len(either) == 1:
	case len(either) == 0:
		d.add("/"+d.act.either[0], params.CodeMissing, "", "%s action requires '%s' parameter", d.act.name, all)
	default:
		d.add("/"+either[len(either)-1], codeTwoForms, "", "%s action takes '%s', not both", d.act.name, all)
	}
}

func (d *call) wrongType(name, want string, n *strictjson.Node) {
	d.add("/"+name, params.CodeWrongType, "", "'%s' must be %s, got %s", nameOf(name), want, n.Kind)
}
