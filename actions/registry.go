package actions

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// Registry is an immutable set of actions by name. The zero Registry means [Builtin] wherever a registry is accepted. A
// registry from [Registry.With] has only the given actions, so an allow-list that ends up empty allows no action.
type Registry struct {
	prototypes map[string]Action // nil for the zero Registry
	err        error
}

// Builtin returns the actions of millrace. Add your own with [Registry.With].
func Builtin() Registry { return builtin() }

// builtin checks the prototypes once: a Registry never changes.
var builtin = sync.OnceValue(func() Registry {
	return Registry{}.With(
		Search{}, List{}, ReadRanges{},
		Edit{}, MultiEdit{}, CountOccurrences{}, RegexTransform{}, EditFiles{}, SyncFiles{}, PatternReplace{}, Patch{},
		Create{}, Copy{}, Rename{}, Delete{},
		Aggregate{}, Diff{}, Merge{}, Fail{}, Tool{}, Exec{}, Prompt{},
	)
})

// With returns a registry that also has the given actions. The given value is the prototype: decoding starts from a
// copy of it, so its fields are the defaults. A later action replaces an earlier action of the same name. A value that
// cannot be an action is left out, and [Registry.Err] returns the reason: its Spec has no Summary or no valid name, or
// a field has a tag without effect, the JSON name of another field, or a type that JSON does not have.
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

// ownCopy returns a copy of an action that is a pointer, so that later changes by the caller do not change the
// defaults.
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
	if p == nil {
		return errors.New("registry: an action is nil")
	}
	spec := p.Spec()
	switch {
	case spec.Name == "":
		return fmt.Errorf("registry: action %T: its Spec has no Name", p)
	case !usableName(spec.Name):
		return fmt.Errorf(
			"registry: action %q: its name must be letters, digits, '_', '.' and '-', a letter first, and not 'then'",
			spec.Name)
	case spec.Summary == "":
		return fmt.Errorf("registry: action %q: its Spec has no Summary, which people and models choose actions by",
			spec.Name)
	}
	t := reflect.TypeOf(p)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return fmt.Errorf("registry: action %q: %T is not a struct or a pointer to one", spec.Name, p)
	}
	if err := checkFields(t, make(map[string]bool), 0); err != nil {
		return fmt.Errorf("registry: action %q: %w", spec.Name, err)
	}
	return nil
}

// usableName reports whether a name can be used in all places that name actions: in JSON, in a schema and at a prompt,
// where "then" separates two actions.
func usableName(name string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	return name != "then" && strings.Contains(letters, name[:1]) && strings.Trim(name, letters+"0123456789_.-") == ""
}

// Err returns the problems of the actions passed to With, nil without problems. Decoding with the registry returns
// them too.
func (r Registry) Err() error { return r.err }

// OrBuiltin returns the registry, or [Builtin] for the zero Registry.
func (r Registry) OrBuiltin() Registry {
	if r.prototypes == nil {
		return Builtin()
	}
	return r
}

// Lookup returns the prototype of the action with that name.
func (r Registry) Lookup(name string) (Action, bool) {
	p, ok := r.prototypes[name]
	return p, ok
}

// Names returns the names of all actions, sorted.
func (r Registry) Names() []string { return slices.Sorted(maps.Keys(r.prototypes)) }
