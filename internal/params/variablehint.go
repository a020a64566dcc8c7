package params

import (
	"fmt"

	"github.com/millrace-go/millrace/internal/synonyms"
)

// VariableHint returns the hint for an unknown field in the declaration of a variable: our word for a word of other
// programs, otherwise a hint about the usual mistake.
func VariableHint(key string) string {
	if key == "required" || key == "optional" {
		return `leave it out, because a variable without "default" needs a value`
	}
	if field, ok := synonyms.Suggest(key, []string{"type", "default", "enum", "description"}); ok {
		return fmt.Sprintf("write %q", field)
	}
	return `an object that is a value stands in "default"`
}
