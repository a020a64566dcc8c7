package actions

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/millrace-go/millrace/internal/params"
)

// Registry is an immutable set of actions by name. The zero Registry is empty.
type Registry struct {
	prototypes map[string]Action
	err        error
}

// With returns a registry that has the given actions too. The value given is the prototype: decoding starts from a copy
// of it, so its fields are the defaults. A later action replaces an earlier one of the same name. What cannot be an action,
// because its Spec has no name or it has a field that JSON cannot give, is left out, and [Registry.Err] says why.
func (r Registry) With(prototypes ...Action) Registry {
	all := maps.Clone(r.prototypes)
	if all == nil {
		all = make(map[string]Action, len(prototypes))
	}
	err := r.err
	for _, p := range prototypes {
		if wrong := checkPrototype(p); wrong != nil {
			err = errors.Join(err, wrong)
			continue
		}
		all[p.Spec().Name] = p
	}
	return Registry{prototypes: all, err: err}
}

func checkPrototype(p Action) error {
	switch {
	case p == nil:
		return errors.New("registry: an action is nil")
	case p.Spec().Name == "":
		return fmt.Errorf("registry: action %T: its Spec has no Name", p)
	}
	if _, err := params.Describe(p); err != nil {
		return fmt.Errorf("registry: action %q: %w", p.Spec().Name, err)
	}
	return nil
}

// Err returns what is wrong with the actions given to With, nil if nothing is. Decoding with the registry returns it too.
func (r Registry) Err() error { return r.err }

// Lookup returns the prototype of the action of that name.
func (r Registry) Lookup(name string) (Action, bool) {
	p, ok := r.prototypes[name]
	return p, ok
}

// Names returns the names of all actions, sorted.
func (r Registry) Names() []string { return slices.Sorted(maps.Keys(r.prototypes)) }
