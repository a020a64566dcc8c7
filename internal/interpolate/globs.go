package interpolate

import (
	"strings"

	"github.com/millrace-go/millrace/internal/template"
)

// globSigns quotes the signs of globs in a name of a file. In names that [template.Join] has joined, commas and
// backslashes have a backslash already; globCommas adds it to a single name.
var (
	globSigns  = strings.NewReplacer("*", `\*`, "?", `\?`, "[", `\[`, "]", `\]`, "{", `\{`, "}", `\}`)
	globCommas = strings.NewReplacer(",", `\,`, `\`, `\\`)
)

// nameInGlob returns a glob that matches exactly the name.
func nameInGlob(name string) string { return globSigns.Replace(globCommas.Replace(name)) }

// expandGlob replaces the templates of a glob by their values. The names of a step's files are literal in it; any other
// value can have a glob.
func expandGlob(text template.Text, values template.Values) (string, error) {
	var of template.Ref
	var isFiles bool
	return text.ExpandQuoted(func(ref template.Ref) (any, error) {
		v, err := values(ref)
		of = ref
		_, isFiles = v.([]string)
		return v, err
	}, func(value string) string {
		switch {
		case !isFiles:
			return value
		case len(of.Path) == 0:
			return globSigns.Replace(value)
		}
		return nameInGlob(value)
	})
}

// expandGlobs is expandGlob in a list, where a template of several files becomes as many globs.
func expandGlobs(text template.Text, values template.Values) (any, error) {
	ref, whole := text.Whole()
	if !whole {
		return expandGlob(text, values)
	}
	v, err := text.Expand(values)
	switch v := v.(type) {
	case string:
		return expandGlob(text, values)
	case []string:
		for i := range v {
			if !ref.Raw {
				v[i] = nameInGlob(v[i])
			}
		}
	}
	return v, err
}
