package actions

import (
	"maps"
	"slices"
)

// Registry is an immutable set of actions by name. The zero Registry is empty.
type Registry struct {
	prototypes map[string]Action
}

// With returns a registry that has the given actions too. The value given is the prototype: decoding starts from a copy
// of it, so its fields are the defaults. A later action replaces an earlier one of the same name.
func (r Registry) With(prototypes ...Action) Registry {
	all := maps.Clone(r.prototypes)
	if all == nil {
		all = make(map[string]Action, len(prototypes))
	}
	for _, p := range prototypes {
		all[p.Spec().Name] = p
	}
	return Registry{prototypes: all}
}

// Lookup returns the prototype of the action of that name.
func (r Registry) Lookup(name string) (Action, bool) {
	p, ok := r.prototypes[name]
	return p, ok
}

// Names returns the names of all actions, sorted.
func (r Registry) Names() []string { return slices.Sorted(maps.Keys(r.prototypes)) }
