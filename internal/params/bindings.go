package params

import (
	"reflect"
	"strings"
)

// bindings are templates, by the JSON pointers of the parameters that they will replace.
type bindings struct {
	texts map[string]string
	// within has the pointers of all values that contain a bound value. Without it, searching below each of many empty
	// values would take quadratic time in a hostile text.
	within map[string]bool
}

func newBindings(texts map[string]string) bindings {
	b := bindings{texts: texts, within: make(map[string]bool)}
	for to := range texts {
		for i := strings.LastIndexByte(to, '/'); i > 0; i = strings.LastIndexByte(to[:i], '/') {
			b.within[to[:i]] = true
		}
	}
	return b
}

// at reports whether the value at the pointer is bound.
func (b bindings) at(to string) bool {
	_, ok := b.texts[to]
	return ok
}

// above reports whether the pointer leads through a bound value.
func (b bindings) above(to string) bool {
	for i := strings.LastIndexByte(to, '/'); i > 0; i = strings.LastIndexByte(to[:i], '/') {
		if b.at(to[:i]) {
			return true
		}
	}
	return false
}

// leftOver returns an error that names the first binding without a parameter, or below another binding.
func (b bindings) leftOver(s *shape, v reflect.Value) error {
	first, found := "", false
	for to := range b.texts {
		if _, _, _, ok := follow(s, v, to); (!ok || b.above(to)) && (!found || to < first) {
			first, found = to, true
		}
	}
	return &ValueError{Pointer: first, Msg: "a template is bound to it, but there is no such parameter"}
}
