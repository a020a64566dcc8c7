package form

import (
	"strconv"

	"github.com/millrace-go/millrace/condition"
	"github.com/millrace-go/millrace/internal/strictjson"
)

// Errors takes what is wrong with an object that is read.
type Errors interface {
	// Wrong is called for a value of another kind than wanted, which is such as "a string".
	Wrong(n *strictjson.Node, pointer, want string)
	// NotWhole is called for a number that is not whole, or that an int cannot hold.
	NotWhole(text, pointer string)
	// Unknown is called for a member whose name no field has. The pointer is that of the object.
	Unknown(m strictjson.Member, pointer string, fields Fields)
}

// Read reads the members of an object that stands at a JSON pointer, in the order of the text.
func (f Fields) Read(n *strictjson.Node, pointer string, errs Errors) {
	for _, m := range n.Members {
		if field := f.Field(m.Name); field != nil {
			field.read(m.Value, pointer, errs)
		} else {
			errs.Unknown(m, pointer, f)
		}
	}
}

func (f *Field) read(n *strictjson.Node, object string, errs Errors) {
	want := strictjson.String
	switch f.Kind {
	case Flag, Unless:
		want = strictjson.Bool
	case Count:
		want = strictjson.Number
	case Number:
		if want = strictjson.Number; n.Kind == strictjson.String {
			want = n.Kind
		}
	case Object:
		want = strictjson.Object
	case IDs, List:
		want = strictjson.Array
	}
	if n.Kind != want {
		errs.Wrong(n, object+"/"+f.Name, f.wants())
		return
	}
	switch to := f.To.(type) {
	case *string:
		*to = n.Text
	case *[]string:
		*to = make([]string, len(n.Elems))
		for i, e := range n.Elems {
			if e.Kind != strictjson.String {
				errs.Wrong(e, object+"/"+f.Name+"/"+strconv.Itoa(i), "a string")
				continue
			}
			(*to)[i] = e.Text
		}
	case *bool:
		*to = n.Bool != (f.Kind == Unless)
	case **int:
		text := n.Number
		if n.Kind == strictjson.String {
			text = n.Text
		}
		if v, err := condition.ParseValue(text); err == nil {
			*to = &v
		} else {
			errs.NotWhole(text, object+"/"+f.Name)
		}
	case Value:
		to.Read(n, object+"/"+f.Name)
	}
}

// wants says what the field takes, as in "must be a list of step ids".
func (f *Field) wants() string {
	switch f.Kind {
	case IDs:
		return "a list of step ids"
	case Flag, Unless:
		return "true or false"
	case Count, Number:
		return "a whole number"
	case Object:
		return "an object"
	case List:
		return "a list of " + f.Name
	default:
		return "a string"
	}
}
