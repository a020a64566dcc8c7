package names

import (
	"errors"
	"fmt"
	"strings"
)

// Most is the maximum number of list entries in a message or a summary.
const Most = 10

// Few joins the first ten texts of a list for a message, and counts the others: "a, b and 3 more".
func Few(texts []string, separator string) string { return Some(texts, Most, separator) }

// Some is [Few] for another number than ten. If the separator ends a line, the count is on its own line too.
func Some(texts []string, most int, separator string) string {
	if len(texts) <= most {
		return strings.Join(texts, separator)
	}
	before := " "
	if strings.HasSuffix(separator, "\n") {
		before = separator
	}
	return strings.Join(texts[:most], separator) + before + rest(len(texts)-most)
}

// First returns the texts of the first entries of a list, and a last text that counts the other entries.
func First[T any](list []T, most int, text func(T) string) []string {
	return first(list, most, text, func(rest string) string { return rest })
}

// FirstErrors is First for messages that are errors.
func FirstErrors[T any](list []T, most int, message func(T) error) []error {
	return first(list, most, message, errors.New)
}

func first[T, Text any](list []T, most int, text func(T) Text, other func(string) Text) []Text {
	var texts []Text
	for i, one := range list {
		if i == most {
			return append(texts, other(rest(len(list)-i)))
		}
		texts = append(texts, text(one))
	}
	return texts
}

func rest(n int) string { return fmt.Sprintf("and %d more", n) }
