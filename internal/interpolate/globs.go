package interpolate

import (
	"strings"

	"github.com/millrace-go/millrace/internal/template"
)

// globSigns escapes the special characters of globs in a file name. [template.Join] has already escaped commas and
// backslashes in the names that it joins; globCommas escapes them in a single name.
var (
	globSigns  = strings.NewReplacer("*", `\*`, "?", `\?`, "[", `\[`, "]", `\]`, "{", `\{`, "}", `\}`)
	globCommas = strings.NewReplacer(",", `\,`, `\`, `\\`)
)

// nameInGlob returns a glob that matches exactly the name.
func nameInGlob(name string) string { return globSigns.Replace(globCommas.Replace(name)) }

// rooted returns a glob that matches only a name in the root. A glob without a slash would match it in all directories;
// the second alternative has one, and matches nothing.
func rooted(glob string) string {
	if strings.Contains(glob, "/") {
		return glob
	}
	return "{" + glob + ",./}"
}

// expandGlob replaces the templates of a glob by their values. The names of a step's files match themselves. Any other
// value can contain glob syntax.
func expandGlob(text template.Text, values template.Values) (string, error) {
	var of template.Ref
	var isFiles bool
	_, whole := text.Whole()
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
		case whole:
			return rooted(nameInGlob(value))
		}
		return nameInGlob(value)
	})
}

// expandGlobs is expandGlob in a list, where a template of several files becomes a glob for each file.
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
				v[i] = rooted(nameInGlob(v[i]))
			}
		}
	}
	return v, err
}
