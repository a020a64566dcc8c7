package actions

import (
	"github.com/millrace-go/millrace/internal/nearest"
	"github.com/millrace-go/millrace/internal/synonyms"
)

// Synonym returns the name of a list that another name stands for: other tools call the parameter so, or the two names
// differ in underscores and capitals alone. ok is false if the list has none such, or several.
func Synonym(name string, names []string) (meant string, ok bool) { return synonyms.Meant(name, names) }

// Nearest returns the name of a list that a misspelled name was probably meant for, in whatever order the list is. ok
// is false if none is near.
func Nearest(name string, names []string) (meant string, ok bool) { return nearest.Of(name, names) }
