package actions

import "github.com/millrace-go/millrace/internal/synonyms"

// Synonym returns the one of some names of parameters that another name stands for: the name that other tools give
// it, or the same name with other underscores and letters. ok is false if there is none, or more than one.
func Synonym(name string, names []string) (meant string, ok bool) { return synonyms.Meant(name, names) }
