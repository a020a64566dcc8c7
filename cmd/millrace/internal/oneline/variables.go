package oneline

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/millrace-go/millrace"
)

// takes are the values that the types of variables take on the command line.
var takes = map[string]string{
	"string": "a string", "number": aNumber, "integer": wholeNumber, "boolean": trueOrFalse, "list": listOfStrings, "object": "an object",
}

// Variables returns a pipeline with the values that the arguments give its variables: NAME=VALUE, several times for a
// list, NAME:=JSON, NAME=@FILE. Each variable has a value afterwards.
func (w Where) Variables(p millrace.Pipeline, args []string) (millrace.Pipeline, error) {
	variables := p.Variables()
	doc := millrace.ActionDoc{}
	for _, v := range variables {
		doc.Params = append(doc.Params, millrace.ParamDoc{Name: v.Name, Type: takes[v.Type]})
	}
	w.Dir, w.literal = "", true
	values, err := w.params(call{action: "the pipeline", args: args}, doc)
	if err != nil {
		return p, err
	}
	for name, value := range values {
		if text, ok := value.(json.RawMessage); ok {
			if values[name], err = decoded(string(text)); err != nil {
				return p, err // params has read it before
			}
		}
	}
	if p, err = p.WithVariables(values); err != nil {
		return p, explained(err)
	}
	var missing []string
	for _, v := range p.Variables() {
		if !v.HasValue() {
			missing = append(missing, fmt.Sprintf("%s=VALUE", v.Name))
		}
	}
	if len(missing) > 0 {
		return p, usage("write "+strings.Join(missing, " ")+" behind the file", "the pipeline has variables without a value")
	}
	return p, nil
}
