package actions

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// Registry is an immutable set of actions by name. The zero Registry, which nobody has made, stands for [Builtin]
// wherever one is taken. One made by [Registry.With] has what it was given and nothing else, so an allow-list that
// ends up empty allows no action.
type Registry struct {
	prototypes map[string]Action // nil for the zero Registry
	err        error
}

// Builtin returns the actions that millrace brings. Add your own with [Registry.With].
func Builtin() Registry {
	return Registry{}.With(
		Search{}, List{}, ReadRanges{},
		Edit{}, MultiEdit{}, CountOccurrences{}, RegexTransform{}, EditFiles{}, PatternReplace{}, Patch{},
		Create{}, Copy{}, Rename{}, Delete{},
		Aggregate{}, Diff{}, Merge{}, Fail{}, Tool{}, Exec{}, Prompt{},
	)
}

// With returns a registry that has the given actions too. The value given is the prototype: decoding starts from a
// copy of it, so its fields are the defaults. A later action replaces an earlier one of the same name. What cannot be
// an action, because its Spec has no name or it has a field that JSON cannot give, is left out, and [Registry.Err]
// says why.
func (r Registry) With(prototypes ...Action) Registry {
	all := make(map[string]Action, len(r.prototypes)+len(prototypes))
	maps.Copy(all, r.prototypes)
	err := r.err
	for _, p := range prototypes {
		if wrong := checkPrototype(p); wrong != nil {
			err = errors.Join(err, wrong)
			continue
		}
		all[p.Spec().Name] = ownCopy(p)
	}
	return Registry{prototypes: all, err: err}
}

// ownCopy returns a copy of an action that is a pointer, so that what its caller sets in it later is no default.
func ownCopy(p Action) Action {
	v := reflect.ValueOf(p)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return p
	}
	c := reflect.New(v.Type().Elem())
	c.Elem().Set(v.Elem())
	return c.Interface().(Action)
}

func checkPrototype(p Action) error {
	switch {
	case p == nil:
		return errors.New("registry: an action is nil")
	case p.Spec().Name == "":
		return fmt.Errorf("registry: action %T: its Spec has no Name", p)
	}
	if field := notInJSON(reflect.TypeOf(p), 0); field != "" {
		return fmt.Errorf("registry: action %q: field %s is of a type that JSON has no values of", p.Spec().Name, field)
	}
	return nil
}

// notInJSON returns the first exported field of a struct, or of the structs in it, that no JSON value can be given to.
func notInJSON(t reflect.Type, depth int) string {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Func, reflect.Chan, reflect.UnsafePointer, reflect.Complex64, reflect.Complex128:
		return t.String()
	case reflect.Struct:
	default:
		return ""
	}
	const deepest = 10 // a type may hold itself
	for i := 0; i < t.NumField() && depth < deepest; i++ {
		f := t.Field(i)
		if !f.IsExported() || f.Tag.Get("json") == "-" {
			continue
		}
		if notInJSON(f.Type, depth+1) != "" {
			return f.Name
		}
	}
	return ""
}

// Err returns what is wrong with the actions given to With, nil if nothing is. Decoding with the registry returns it
// too.
func (r Registry) Err() error { return r.err }

// OrBuiltin returns the registry, or [Builtin] for the zero Registry.
func (r Registry) OrBuiltin() Registry {
	if r.prototypes == nil {
		return Builtin()
	}
	return r
}

// Lookup returns the prototype of the action of that name.
func (r Registry) Lookup(name string) (Action, bool) {
	p, ok := r.prototypes[name]
	return p, ok
}

// Names returns the names of all actions, sorted.
func (r Registry) Names() []string { return slices.Sorted(maps.Keys(r.prototypes)) }
