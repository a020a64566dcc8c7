package actions

import "github.com/millrace-go/millrace/internal/synonyms"

// Synonym returns the name of a list that another name means: other tools use that name for the parameter, or the names
// differ only in underscores and capitals. ok is false if no name of the list fits, or several do.
func Synonym(name string, names []string) (meant string, ok bool) {
	return synonyms.Meant(name, names)
}

// Nearest returns the name of a list that an unknown name probably means: the name that it is a [Synonym] of, or else
// the name that it misspells. The order of the list does not matter. ok is false if no name is meant.
func Nearest(name string, names []string) (meant string, ok bool) {
	return synonyms.Suggest(name, names)
}
