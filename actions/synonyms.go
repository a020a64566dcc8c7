package actions

import "github.com/millrace-go/millrace/internal/synonyms"

// Synonym returns the name of a list that another name stands for: other tools call the parameter so, or the two names
// differ in underscores and capitals alone. ok is false if no name of the list fits, or several do.
func Synonym(name string, names []string) (meant string, ok bool) {
	return synonyms.Meant(name, names)
}

// Nearest returns the name of a list that an unknown name was probably meant for: the name that it is a [Synonym] of,
// or else the name that it misspells. The order of the list does not matter. ok is false if no name is meant.
func Nearest(name string, names []string) (meant string, ok bool) {
	return synonyms.Suggest(name, names)
}
