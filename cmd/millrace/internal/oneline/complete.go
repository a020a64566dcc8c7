package oneline

import (
	"slices"
	"strings"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
)

// Word is a completion of the last argument of `do`. Doc describes it, "" for names of files.
type Word struct{ Text, Doc string }

// Complete returns the completions of an argument that begins with word: an action, a parameter with "=" at its end, a
// value, or the name of a file. args are the arguments before it. list returns the entries of a directory, with a slash
// after directories; nil offers no files.
func Complete(d millrace.Decoder, args []string, word string, list func(dir string) []string) []Word {
	action, given := "", args
	for i, arg := range args {
		switch {
		case arg == then:
			action = ""
		case action == "":
			action, given = arg, args[i+1:]
		}
	}
	var all []Word
	name, value, valued := strings.Cut(word, "=")
	switch doc, ok := d.Describe(action); {
	case action == "":
		all = actionWords(d)
	case !ok, strings.HasSuffix(name, ":"):
	case valued:
		all = valueWords(doc, name, value, list)
	default:
		all = paramWords(doc, given)
	}
	return slices.DeleteFunc(all, func(w Word) bool { return !strings.HasPrefix(w.Text, word) })
}

func actionWords(d millrace.Decoder) []Word {
	registry := d.Actions
	if registry.Names() == nil {
		registry = actions.Builtin()
	}
	var all []Word
	for _, name := range registry.Names() {
		doc, _ := d.Describe(name)
		all = append(all, Word{name, doc.Summary})
	}
	return all
}

// paramWords returns the parameters that can still be given; a list can be given more than once. A list of objects is
// given as JSON.
func paramWords(doc millrace.ActionDoc, given []string) []Word {
	all := make([]Word, 0, len(doc.Params)+1)
	for _, p := range doc.Params {
		isList := strings.HasSuffix(p.Type, listOfStrings) || p.Type == listOfNumbers
		had := slices.ContainsFunc(given, func(arg string) bool {
			return strings.HasPrefix(arg, p.Name+"=") || strings.HasPrefix(arg, p.Name+":=")
		})
		sign := "="
		if strings.Contains(p.Type, "object") {
			sign = ":="
		}
		if !strings.ContainsAny(p.Name, ".[") && (isList || !had) {
			all = append(all, Word{p.Name + sign, p.Doc})
		}
	}
	return append(all, Word{then, "Another action, with the files of this one."})
}

// valueWords returns the possible values of a parameter.
func valueWords(doc millrace.ActionDoc, name, value string, list func(dir string) []string) []Word {
	i := slices.IndexFunc(doc.Params, func(p millrace.ParamDoc) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	values := doc.Params[i].Enum
	if doc.Params[i].Type == trueOrFalse {
		values = []string{"true", "false"}
	}
	sign := ""
	if rest, ok := strings.CutPrefix(value, "@"); ok {
		sign, value = "@", rest
	}
	if list != nil && (sign != "" || slices.Contains(pathParams, name) && len(values) == 0) {
		dir := value[:strings.LastIndex(value, "/")+1]
		from := dir
		if from == "" {
			from = "."
		}
		for _, file := range list(from) {
			if strings.HasPrefix(file, ".") && value == dir {
				continue // as in a shell, a hidden file is only offered after a dot
			}
			values = append(values, dir+file)
		}
	}
	all := make([]Word, len(values))
	for i, text := range values {
		all[i] = Word{Text: name + "=" + sign + text}
	}
	return all
}
