package oneline

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/template"
)

// takes are the types of variables in the words of ParamDoc.
var takes = map[string]string{
	"string": "a string", "number": aNumber, "integer": wholeNumber, "boolean": trueOrFalse, "list": listOfStrings,
	"object": "an object",
}

// ErrNoAnswer reports that the user was asked for a value and gave none.
var ErrNoAnswer = errors.New("the value was not given")

// docOf describes the variables of a pipeline as parameters.
func docOf(p millrace.Pipeline) millrace.ActionDoc {
	doc := millrace.ActionDoc{}
	for _, v := range p.Variables() {
		param := millrace.ParamDoc{Name: v.Name, Type: takes[v.Type], Doc: v.Description}
		for _, value := range v.Enum {
			if text, err := template.Format(value); err == nil {
				param.Enum = append(param.Enum, text)
			}
		}
		doc.Params = append(doc.Params, param)
	}
	return doc
}

// CompleteVariables is [Complete] for the variables of a pipeline. args are the arguments after its name.
func CompleteVariables(p millrace.Pipeline, args []string, word string, list func(dir string) []string) []Word {
	doc := docOf(p)
	name, value, valued := strings.Cut(word, "=")
	all := paramWords(doc, args)
	all = all[:len(all)-1] // "then" is only for actions
	if valued {
		all = valueWords(doc, name, value, list)
	}
	return slices.DeleteFunc(all, func(w Word) bool { return !strings.HasPrefix(w.Text, word) })
}

// asked returns the argument that sets a variable to the value that the user types.
func (w Where) asked(v millrace.Variable) (string, error) {
	question := v.Name + " (" + v.Type
	if v.Enum != nil {
		text, err := template.Format(v.Enum)
		if err != nil {
			return "", err
		}
		question += ", one of " + text
	}
	question += ")"
	if v.Description != "" {
		question = v.Description + "\n" + question
	}
	lines := strings.Split(question, "\n")
	for i, line := range lines {
		lines[i] = shown(line) // the content of a file is text, and must not control the terminal
	}
	answer, err := w.Ask(strings.Join(lines, "\n") + ": ")
	if err != nil || answer == "" && v.Type != "string" {
		return "", ErrNoAnswer
	}
	switch at := strings.HasPrefix(answer, "@"); { // in an argument, @ begins the name of a file
	case v.Type == "object" && !at, v.Type == "list" && strings.HasPrefix(answer, "["):
		return v.Name + ":=" + answer, nil
	case v.Type != "string" && !at:
		return v.Name + "=" + answer, nil
	case !utf8.ValidString(answer):
		return "", usage("", "'%s' of the pipeline takes text, and this is not UTF-8", shown(v.Name))
	}
	quoted, err := json.Marshal(answer)
	if err != nil {
		return "", err
	}
	text := string(quoted)
	if v.Type == "list" {
		text = "[" + text + "]"
	}
	return v.Name + ":=" + text, nil
}

// Variables returns a pipeline with the values from the arguments: NAME=VALUE, several times for a list, NAME:=JSON,
// NAME=@FILE. Afterwards each variable has a value: a missing one is asked for, if there is an Ask.
func (w Where) Variables(p millrace.Pipeline, args []string) (millrace.Pipeline, error) {
	w.Dir, w.literal = "", true
	p, err := w.given(p, args)
	if err != nil || w.Ask == nil {
		return p, orMissing(p, err)
	}
	var answers []string
	for _, v := range p.Variables() {
		if v.HasValue() {
			continue
		}
		answer, err := w.asked(v)
		if err != nil {
			return p, err
		}
		answers = append(answers, answer)
	}
	p, err = w.given(p, answers)
	return p, orMissing(p, err)
}

// given returns a pipeline with the values from the arguments.
func (w Where) given(p millrace.Pipeline, args []string) (millrace.Pipeline, error) {
	values, err := w.params(call{action: "the pipeline", args: args}, docOf(p))
	if err != nil {
		return p, err
	}
	for name, value := range values {
		if text, ok := value.(json.RawMessage); ok {
			if err := strict(string(text)); err != nil {
				return p, usage("", "'%s' of the pipeline: %v", shown(name), err)
			}
			if values[name], err = decoded(string(text)); err != nil {
				return p, err // params has parsed it before
			}
		}
	}
	with, err := p.WithVariables(values)
	if err != nil {
		return p, explained(err)
	}
	return with, nil
}

// orMissing returns err, or an error that lists the variables without a value.
func orMissing(p millrace.Pipeline, err error) error {
	if err != nil {
		return err
	}
	var missing []string
	for _, v := range p.Variables() {
		if !v.HasValue() {
			missing = append(missing, fmt.Sprintf("%s=VALUE", v.Name))
		}
	}
	if len(missing) > 0 {
		return usage("write "+strings.Join(missing, " ")+" at the end of the command",
			"the pipeline has variables without a value")
	}
	return nil
}
