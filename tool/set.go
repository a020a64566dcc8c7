package tool

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/internal/panics"
	"github.com/millrace-go/millrace/internal/params"
)

const (
	maxName    = 64
	maxRetries = 100
)

// Set is an immutable set of tools by name, safe for concurrent use. The zero Set is empty.
type Set struct{ tools map[string]entry }

// entry is a tool with its Spec, which is read once.
type entry struct {
	tool Tool
	spec Spec
}

// New returns a set of the tools. The error joins the problems of all tools: an invalid or duplicate name, arguments
// that JSON cannot express, a number of retries out of range. With an error the Set is empty.
func New(tools ...Tool) (Set, error) {
	all := make(map[string]entry, len(tools))
	var wrong []error
	for i, t := range tools {
		var spec Spec
		err := panics.Protect(func() error {
			if t == nil {
				return errors.New("it is nil")
			}
			spec = t.Spec()
			return spec.check()
		})
		if _, twice := all[spec.Name]; twice && err == nil {
			err = errors.New("another tool has that name")
		}
		if err != nil {
			wrong = append(wrong, fmt.Errorf("tool %d %q: %w", i, spec.Name, err))
			continue
		}
		all[spec.Name] = entry{t, spec}
	}
	if len(wrong) > 0 {
		return Set{}, errors.Join(wrong...)
	}
	return Set{all}, nil
}

func (s Spec) check() error {
	if err := checkName(s.Name); err != nil {
		return err
	}
	if s.Retries < 0 || s.Retries > maxRetries {
		return fmt.Errorf("retries must be 0 to %d, got %d", maxRetries, s.Retries)
	}
	return checkArgs(s.Args)
}

func checkName(name string) error {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	switch {
	case name == "":
		return errors.New("it has no name")
	case len(name) > maxName:
		return fmt.Errorf("its name is too long (max %d, got %d)", maxName, len(name))
	case strings.Trim(name, letters+"0123456789_.-") != "", !strings.Contains(letters, name[:1]):
		return errors.New("its name must be letters, digits, '_', '.' and '-', a letter first")
	}
	return nil
}

// checkArgs returns the reason why a type cannot be the type of arguments.
func checkArgs(t reflect.Type) error {
	if isOpen(t) {
		return nil
	}
	if t.Kind() != reflect.Struct && (t.Kind() != reflect.Pointer || t.Elem().Kind() != reflect.Struct) {
		return fmt.Errorf("its arguments cannot be %v: use a struct or map[string]any", t)
	}
	if _, err := params.Describe(reflect.Zero(t).Interface()); err != nil {
		return fmt.Errorf("its arguments: %w", err)
	}
	return nil
}

// isOpen reports whether arguments of the type can have any names.
func isOpen(t reflect.Type) bool {
	return t == nil || t == reflect.TypeFor[any]() || t == reflect.TypeFor[map[string]any]()
}

// Lookup returns the tool called name.
func (s Set) Lookup(name string) (Tool, bool) {
	e, ok := s.tools[name]
	return e.tool, ok
}

// Spec returns the Spec of the tool called name.
func (s Set) Spec(name string) (Spec, bool) {
	e, ok := s.tools[name]
	return e.spec, ok
}

// Names returns the names of all tools, sorted. It is nil for the empty Set.
func (s Set) Names() []string { return slices.Sorted(maps.Keys(s.tools)) }
