package params

import (
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

// Check checks the parameters of an action that was built in Go, as [Decode] checks those in JSON: required parameters
// must not have their zero value (nor be an empty list or map) unless they may be empty or are bound, enums must hold,
// and [Encode] must be able to write everything. Each pointer in binds must name a parameter that is not a string and
// may be bound, and each text must be a template.
func Check(action string, value any, binds map[string]string, isTemplate func(string) bool) []Problem {
	c := &checker{collector: collector{action: action, most: mostProblems, isTemplate: isTemplate},
		binds: newBindings(binds)}
	a, err := Of(value)
	if err != nil {
		c.add(nil, CodeBadAction, 0, "", "%s action cannot be used: %v", action, err)
		return c.all()
	}
	c.object(a.shape, a.value, nil)
	c.bindings(a.shape, a.value)
	return c.all()
}

type checker struct {
	collector
	binds bindings
}

func (c *checker) object(s *shape, v reflect.Value, at *path) {
	for i := range s.fields {
		f := &s.fields[i]
		fv, here := v.FieldByIndex(f.index), at.member(f.name)
		empty := isEmpty(f.shape, fv)
		if len(c.binds.texts) > 0 {
			to := here.pointer()
			if c.binds.at(to) {
				continue
			}
			empty = empty && (f.shape.kind == pointer || !c.binds.within[to])
		}
		switch {
		case f.bytes && !empty: // any bytes are allowed
		case !empty:
			c.value(f.shape, fv, here, f.enum)
		case f.required && !f.allowEmpty:
			c.missing(here, 0)
		case f.required && (f.shape.kind == pointer || isNull(f.shape, fv)):
			c.missing(here, 0) // even if it may be empty: nil would be left out
		case !f.omit && f.shape.kind != pointer && f.shape.kind != text && !isNull(f.shape, fv):
			c.value(f.shape, fv, here, f.enum)
		}
	}
}

func (c *checker) value(s *shape, v reflect.Value, at *path, enum []string) {
	if len(c.binds.texts) > 0 && c.binds.at(at.pointer()) {
		return
	}
	switch s.kind {
	case text:
		if !utf8.ValidString(v.String()) {
			c.add(at, CodeBadValue, 0, "", "'%s' is not valid UTF-8", at)
			return
		}
		c.allowed(at, v.String(), enum, 0)
	case float:
		if f := v.Float(); math.IsNaN(f) || math.IsInf(f, 0) {
			c.add(at, CodeBadValue, 0, "", "'%s' must be a number that JSON has, got %v", at, f)
		}
	case pointer:
		if v.IsNil() {
			c.add(at, CodeNull, 0, "", "'%s' must be %s, got nil", at, s.wants())
			return
		}
		c.value(s.elem, v.Elem(), at, enum)
	case list:
		for i := range v.Len() {
			c.value(s.elem, v.Index(i), at.elem(i), enum)
		}
	case dict:
		for _, key := range sortedKeys(v) {
			if !utf8.ValidString(key.String()) {
				c.add(at, CodeBadValue, 0, "", "'%s' has a name that is not valid UTF-8", at)
				continue
			}
			c.value(s.elem, v.MapIndex(key), at.member(key.String()), enum)
		}
	case object:
		c.object(s, v, at)
	case anything:
		c.tree(v, at)
	case custom:
		if _, err := appendCustom(s, nil, v); err != nil {
			c.add(at, CodeBadValue, 0, "", "'%s' is not valid: %v", at, err)
		} else if isNull(s, v) {
			c.add(at, CodeNull, 0, "", "'%s' would be written as null", at)
		}
	}
}

func (c *checker) bindings(s *shape, v reflect.Value) {
	for _, to := range slices.Sorted(maps.Keys(c.binds.texts)) {
		at, found, _, ok := follow(s, v, to)
		switch {
		case !ok:
			c.unknownBinding(s, to)
		case found.plain().kind == text:
			c.add(at, CodeBadBinding, 0, "write the template into the parameter itself",
				"'%s' is a string and cannot be bound", at)
		case found.kind == anything:
			c.add(at, CodeBadBinding, 0, "write the template into the parameter itself",
				"'%s' takes a template as it is and cannot be bound", at)
		case !found.bindable():
			c.add(at, CodeBadBinding, 0, "", "'%s' must be %s, which no template can give", at, found.wants())
		case !c.templated(c.binds.texts[to]):
			c.add(at, CodeBadBinding, 0, "use {{step.field}} with the id of an earlier step",
				"'%s' is bound to '%s', which is not a template", at, shown(c.binds.texts[to]))
		case c.binds.above(to):
			c.add(at, CodeBadBinding, 0, "", "'%s' is part of a parameter that is bound as a whole", at)
		}
	}
}

func (c *checker) unknownBinding(s *shape, to string) {
	if name, ok := strings.CutPrefix(to, "/"); ok && !strings.Contains(name, "/") {
		j := collector{action: c.action, most: 1}
		j.unknown(s, nil, name, 0)
		c.add((*path)(nil).member(name), CodeBadBinding, 0, j.problems[0].Hint, "%s", j.problems[0].Message)
		return
	}
	c.add(nil, CodeBadBinding, 0, "", "%s action has nothing to bind at '%s'", c.action, shown(to))
}
