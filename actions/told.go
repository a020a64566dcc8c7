package actions

import (
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/show"
	"github.com/millrace-go/millrace/internal/strictjson"
)

// PointerToken returns a name as a part of a JSON pointer, for the param of [Check.Problemf]: "~" becomes "~0" and "/"
// becomes "~1".
func PointerToken(name string) string { return strictjson.EscapeToken(name) }

// Few joins the first ten texts of a list for a message, and adds the number of the others: "a, b and 3 more".
func Few(texts []string, separator string) string { return names.Few(texts, separator) }

// Short shortens a text for a message: it returns the first most bytes, and "..." if the text is longer. Characters
// stay whole.
func Short(text string, most int) string { return show.Short(text, most) }
