// Package synonyms has the words that other tools have for our words: parameters, flags, keys, fields, actions, and
// values. It is the one table of all doors: lenient decoding takes the synonyms of parameters, and hints are made of
// them, also at the prompt and in the MCP server. Words that a user made up, such as the ids of steps and the names of
// variables, have no synonyms: package nearest finds their misspellings.
package synonyms

import (
	"slices"
	"strings"

	"github.com/millrace-go/millrace/internal/nearest"
)

// Of returns the words that other tools have for a word of ours, separated by spaces, "" if none are known. A flag with
// hyphens is the parameter with underscores.
func Of(name string) string { return table[strings.ReplaceAll(name, "-", "_")] }

// Meant returns the name of a list that another name stands for. ok is false if the list has none such, or several.
func Meant(name string, names []string) (meant string, ok bool) {
	for _, candidate := range names {
		if Same(candidate, name) {
			return candidate, true
		}
	}
	for _, candidate := range names {
		if slices.ContainsFunc(strings.Fields(Of(candidate)), func(s string) bool { return Same(s, name) }) {
			if meant != "" {
				return "", false
			}
			meant = candidate
		}
	}
	return meant, meant != ""
}

// Suggest returns the word of a list that an unknown word was probably meant for: the word that it is a synonym of, or
// else the nearest. Every door asks it for a parameter, a flag, a field, a key, an action, and a value of an enum. ok
// is false if no word of the list is meant.
func Suggest(name string, names []string) (meant string, ok bool) {
	if meant, ok = Meant(name, names); ok {
		return meant, true
	}
	return nearest.Of(name, names)
}

// Same reports whether two names differ only in case, underscores and hyphens.
func Same(a, b string) bool { return plain(a) == plain(b) }

func plain(name string) string { return strings.ToLower(separators.Replace(name)) }

var separators = strings.NewReplacer("_", "", "-", "", " ", "")
