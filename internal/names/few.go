package names

import (
	"fmt"
	"strings"
)

// mostNamed is how many entries of a list a message names.
const mostNamed = 10

// Few joins the first ten texts of a list for a message, and counts the others: "a, b and 3 more".
func Few(texts []string, separator string) string {
	if len(texts) <= mostNamed {
		return strings.Join(texts, separator)
	}
	return fmt.Sprintf("%s and %d more", strings.Join(texts[:mostNamed], separator), len(texts)-mostNamed)
}
