package actions

import "github.com/millrace-go/millrace/internal/synonyms"

// Synonym returns the name of a list that another name stands for: other tools call the parameter so, or the two names
// differ in underscores and capitals alone. ok is false if the list has none such, or several.
func Synonym(name string, names []string) (meant string, ok bool) { return synonyms.Meant(name, names) }
