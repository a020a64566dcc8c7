package params

import (
	"reflect"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/internal/paramtags"
)

// field is one parameter of a struct.
type field struct {
	name       string // in JSON
	index      []int  // for reflect.Value.FieldByIndex
	shape      *shape
	required   bool
	allowEmpty bool // although it is required
	omit       bool // if it is empty
	single     bool // of a list of strings: a string means a list of this string
	whole      bool // a template counts only if it is the whole string
	nonzero    bool // a 0 in the JSON is a mistake: the zero value means the default
	count      bool // not negative, only in the schema
	id         bool // a step id, or a list of them
	quoted     bool // a whole number that may also be in quotes
	bytes      bool // a string of any bytes, written as an object if it is not UTF-8
	enum       []string
	aliases    string // other names that lenient decoding accepts for it
	doc        string
	ignored    bool // it is not a parameter
	embedded   bool // its fields are parameters
}

// tags reads the tags of a field. A tag that would have no effect is an error, since its author expects one.
func (b *builder) tags(sf reflect.StructField, at string) (field, error) {
	var tags field
	param, hasParam := sf.Tag.Lookup("param")
	enum, hasEnum := sf.Tag.Lookup("enum")
	tag := sf.Tag.Get("json")
	name, rest, _ := strings.Cut(tag, ",")

	if sf.Anonymous && name == "" {
		if sf.Type.Kind() == reflect.Pointer {
			return tags, b.fail(at, "a pointer that is embedded needs a name in its json tag")
		}
		c, err := b.custom(sf.Type, at)
		if err != nil {
			return tags, err
		}
		tags.embedded = sf.Type.Kind() == reflect.Struct && c == nil
	}
	tags.ignored = tag == "-" || !sf.IsExported() && !tags.embedded
	if (tags.ignored || tags.embedded) && (hasParam || hasEnum) {
		return tags, b.fail(at, "it has a param or enum tag, but is not a parameter")
	}
	if tags.ignored || tags.embedded {
		return tags, nil
	}

	tags.name = name
	if name == "" {
		tags.name = sf.Name
	}
	for option := range strings.SplitSeq(rest, ",") {
		switch option {
		case "":
		case "omitempty", "omitzero":
			tags.omit = true
		default:
			return tags, b.fail(at, "json tag has the option %q, which is not supported", option)
		}
	}
	if hasParam {
		p, err := paramtags.Parse(param, sf.Type)
		if err != nil {
			return tags, b.fail(at, "%v", err)
		}
		tags.required, tags.allowEmpty, tags.single, tags.whole, tags.nonzero = p.Required, p.Empty, p.Single, p.Whole, p.Nonzero
		tags.count, tags.id, tags.quoted, tags.bytes = p.Count, p.ID, p.Quoted, p.Bytes
	}
	if hasEnum {
		tags.enum = strings.Split(enum, ",")
		if slices.Contains(tags.enum, "") {
			return tags, b.fail(at, "enum tag has an empty value")
		}
	}
	tags.aliases, tags.doc = sf.Tag.Get("alias"), sf.Tag.Get("doc")
	return tags, nil
}
