package mend

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/millrace-go/millrace/internal/strictjson"
)

// Plain returns a name without what people write differently: case, underscores, hyphens and spaces.
func Plain(name string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if separates(r) {
			return -1
		}
		return r
	}, name))
}

func separates(r rune) bool { return r == '_' || r == '-' || r == ' ' }

// Same reports whether two names differ only in case, underscores, hyphens and spaces. It is asked for every name in
// a text and every name that there is, so it makes no copies.
func Same(a, b string) bool {
	for {
		a, b = strings.TrimLeftFunc(a, separates), strings.TrimLeftFunc(b, separates)
		if a == "" || b == "" {
			return a == b
		}
		x, n := utf8.DecodeRuneInString(a)
		y, m := utf8.DecodeRuneInString(b)
		if x != y && unicode.ToLower(x) != unicode.ToLower(y) {
			return false
		}
		a, b = a[n:], b[m:]
	}
}

// Match returns the name of the field that a name stands for: one that differs only as Same says, one of which it is an
// alias, or one that it is a misspelling of. ok is false if there is none, or more than one.
func (f *Form) Match(name string) (field string, ok bool) {
	if field, ok = f.Known(name); ok || Note(name) {
		return field, ok
	}
	return nearest(name, f.Names())
}

// Known is Match without misspellings.
func (f *Form) Known(name string) (field string, ok bool) {
	for i := range f.Fields {
		if Same(f.Fields[i].Name, name) {
			return f.Fields[i].Name, true
		}
	}
	for i := range f.Fields {
		if slices.ContainsFunc(f.Fields[i].Aliases, func(alias string) bool { return Same(alias, name) }) {
			if field != "" {
				return "", false
			}
			field = f.Fields[i].Name
		}
	}
	return field, field != ""
}

// nearest returns the one candidate that word can be a misspelling of. What stands before a whole name is no
// misspelling, but more likely says the opposite, as in "noforce".
func nearest(word string, candidates []string) (string, bool) {
	near, ok := strictjson.Nearest(word, candidates)
	if !ok || strings.HasSuffix(Plain(word), Plain(near)) {
		return "", false
	}
	others := slices.DeleteFunc(slices.Clone(candidates), func(c string) bool { return c == near })
	if _, more := strictjson.Nearest(word, others); more {
		return "", false
	}
	return near, true
}

// Remark reports whether a member of an object is a remark that can be left out: its name is one, as Note says, and
// its value says nothing of what is to be done either.
func Remark(name string, value *strictjson.Node) bool { return Note(name) && Silent(value) }

// Silent reports whether a value says nothing of what is to be done: it is no text that sets an option, and what has
// members has remarks alone.
func Silent(n *strictjson.Node) bool {
	loud := func(e *strictjson.Node) bool { return !Silent(e) }
	return setting(n.Text) == "" && !slices.ContainsFunc(n.Elems, loud) &&
		!slices.ContainsFunc(n.Members, func(m strictjson.Member) bool { return !Remark(m.Name, m.Value) })
}

// Note reports whether a name is that of a remark: something that as a text says nothing of what is to be done.
func Note(name string) bool {
	switch Plain(name) {
	case "description", "comment", "comments", "note", "notes", "title", "label", "summary", "explanation", "reason", "reasoning",
		"rationale", "thought", "thoughts", "purpose", "goal", "author", "created", "version", "schemaversion", "$schema", "tags",
		"meta", "metadata", "extra", "displayname", "$comment":
		return true
	}
	return false
}
