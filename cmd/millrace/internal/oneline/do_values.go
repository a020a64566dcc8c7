package oneline

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/millrace-go/millrace"
)

// The types of parameters, in the words of ParamDoc.
const (
	trueOrFalse   = "true or false"
	wholeNumber   = "a whole number"
	aNumber       = "a number"
	listOfStrings = "a list of strings"
	oneOrList     = "a string or a list of strings"
	listOfNumbers = "a list of whole numbers"
)

// Parameters that name or select files and directories: with name=value they are relative to the working directory.
var (
	pathParams = []string{"path", "paths", "files", "file_a", "file_b", "destination", "base", "directory", "dir"}
	globParams = []string{"include", "exclude", "needs", "writes"}
)

// home returns the parameter for the place where an action works, "" if it has none. Its default is the working
// directory.
func home(action string) string {
	return map[string]string{"search": "path", "list": "path", "pattern_replace": "directory", "exec": "dir"}[action]
}

// params returns the parameters of a step.
func (w Where) params(c call, doc millrace.ActionDoc) (map[string]any, error) {
	params := make(map[string]any)
	asJSON := make(map[string]bool)
	for _, arg := range c.args {
		name, value, ok := strings.Cut(arg, "=")
		if !ok {
			hint := "write name=value, or 'then' before the next action"
			if w.literal {
				hint = "write name=value"
			}
			return nil, usage(hint, "'%s' is not a parameter of %s", shown(arg), c.action)
		}
		_, twice := params[strings.TrimSuffix(name, ":")]
		if literal, ok := strings.CutSuffix(name, ":"); ok {
			if file, ok := strings.CutPrefix(value, "@"); ok { // JSON never begins with it
				data, err := w.read(file)
				if err != nil {
					return nil, err
				}
				value = string(data)
			}
			if err := oneValue(value); err != nil {
				return nil, usage("write JSON after ':=', or a text after '='", "'%s' of %s: %v", shown(literal),
					c.action, err)
			}
			if twice {
				return nil, usage("", "'%s' of %s is given twice", shown(literal), c.action)
			}
			params[literal], asJSON[literal] = json.RawMessage(value), true
			continue
		}
		if file, ok := strings.CutPrefix(value, "@"); ok {
			data, err := w.read(file)
			if err != nil {
				return nil, err
			}
			value = string(data)
		}
		param := paramOf(doc, name)
		if !utf8.ValidString(value) {
			if !param.Bytes {
				return nil, usage("", "'%s' of %s takes text, and this is not UTF-8", shown(name), c.action)
			}
			if twice {
				return nil, usage("", "'%s' of %s is given twice", shown(name), c.action)
			}
			params[name] = map[string]string{"base64": base64.StdEncoding.EncodeToString([]byte(value))}
			continue
		}
		if strings.Contains(param.Type, "list of") && isJSONList(value) {
			return nil, usage("write "+name+":=JSON, or "+name+"=VALUE once for each value",
				"'%s' of %s is a list in JSON", shown(name), c.action)
		}
		v, err := w.value(name, value, param.Type)
		if err != nil {
			return nil, err
		}
		list, ok := params[name].([]any)
		if twice && (!ok || asJSON[name]) {
			return nil, usage("", "'%s' of %s is given twice, and is not a list", shown(name), c.action)
		}
		if more, isList := v.([]any); isList {
			v = append(list, more...)
		}
		params[name] = v
	}
	return params, w.newName(params)
}

// newName converts the new name of files. With parts of their names, or templates within it, it counts from a
// destination as with Transfer. A template at its beginning can be a whole path, so it stays unchanged.
func (w Where) newName(params map[string]any) error {
	text, ok := params["to"].(string) // JSON is another type
	text = w.slashes(text)
	first, _, begins := strings.Cut(strings.TrimPrefix(text, "{{"), "}}")
	begins = begins && strings.HasPrefix(text, "{{") && strings.Contains(first, ".")
	if !ok || text == "" || begins || w.literal || w.dir() == "." && !absolute(text) {
		return nil
	}
	_, below := params["destination"]
	to := target{to: text}
	var err error
	switch {
	case below && absolute(text):
		return usage("leave out destination, or write a name below it", "'%s' is not below the destination", shown(text))
	case below:
		to.base = w.baseOf(text)
	case strings.Contains(text, "{{"):
		to, err = w.named(text)
	default:
		if to.to, err = w.place(text); strings.HasSuffix(text, "/") {
			to.to = slashed(to.to)
		}
	}
	params["to"] = to.to
	if to.destination != "" {
		params["destination"] = to.destination
	}
	if _, ok := params["base"]; !ok && to.base != "" {
		params["base"] = to.base
	}
	return err
}

// isJSONList reports whether a value is a JSON list, the form that models and users of APIs use.
func isJSONList(value string) bool {
	var list []json.RawMessage
	return strings.HasPrefix(value, "[") && json.Unmarshal([]byte(value), &list) == nil && len(list) > 0
}

// goHome sets the place where an action works, if no argument sets it.
func (w Where) goHome(action string, params map[string]any) {
	at := home(action)
	if at == "" || w.dir() == "." {
		return
	}
	for _, other := range []string{at, "paths", "files"} {
		if _, ok := params[other]; ok {
			return
		}
	}
	params[at] = w.dir()
}

// paramOf returns the description of a parameter, the zero ParamDoc if it does not exist.
func paramOf(doc millrace.ActionDoc, name string) millrace.ParamDoc {
	i := slices.IndexFunc(doc.Params, func(p millrace.ParamDoc) bool { return p.Name == name })
	if i < 0 {
		return millrace.ParamDoc{}
	}
	return doc.Params[i]
}

// value converts a text for a parameter of that type. A text that does not fit stays a text, because it can be a
// template. Otherwise the decoder reports the error.
func (w Where) value(name, text, takes string) (any, error) {
	switch takes {
	case listOfStrings, oneOrList:
		placed, err := w.placed(name, text)
		return []any{placed}, err
	case listOfNumbers:
		if v, ok := number(text); ok {
			return []any{v}, nil
		}
		return []any{text}, nil
	case trueOrFalse:
		switch text {
		case "true":
			return true, nil
		case "false":
			return false, nil
		}
		return text, nil
	case wholeNumber, aNumber:
		if v, ok := number(text); ok {
			return v, nil
		}
		return text, nil
	}
	return w.placed(name, text)
}

// placed returns a name, or a glob, relative to the root of the tree. A template stays unchanged.
func (w Where) placed(name, text string) (string, error) {
	switch {
	case w.literal || w.dir() == "." && !absolute(text) || text == "" || strings.Contains(text, "{{"):
		return text, nil
	case slices.Contains(pathParams, name):
		place, err := w.place(text)
		if err == nil && strings.HasSuffix(text, "/") {
			place = slashed(place)
		}
		return place, err
	case slices.Contains(globParams, name):
		return w.Filter(text)
	}
	return text, nil
}

// number returns the JSON number in a text, as written.
func number(text string) (json.Number, bool) {
	v, err := decoded(text)
	n, ok := v.(json.Number)
	return n, err == nil && ok && n.String() == text
}

// oneValue checks that a text is one JSON value, which the decoder then gets as typed.
func oneValue(text string) error {
	if !utf8.ValidString(text) {
		return errors.New("it is not UTF-8")
	}
	_, err := decoded(text)
	return err
}

// decoded returns the single JSON value in a text, with numbers as written.
func decoded(text string) (any, error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more behind the value")
	}
	return v, nil
}

// strict returns an error for a JSON value that a pipeline could not have. It refuses numbers out of range, repeated
// names, and halves of surrogate pairs. encoding/json would change repeated names and halves of pairs silently.
func strict(text string) error {
	const before = `{"name": "n", "steps": [{"id": "s", "action": "list", "params": {"value":` + "\n"
	most := millrace.Decoder{MaxBytes: len(before) + len(text) + 8, MaxDepth: -1}
	_, err := most.Decode([]byte(before + text + "\n}}]}"))
	invalid, ok := errors.AsType[*millrace.ValidationError](err)
	if !ok || invalid.Problems[0].Code != "invalid_json" {
		return nil // other problems are expected: list has no such parameter
	}
	p := invalid.Problems[0]
	return fmt.Errorf("line %d, column %d: a repeated name, half of a surrogate pair, or a number out of range",
		p.Line-1, p.Column)
}
