package command

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
)

// Valid returns an error for an invalid policy: patterns that cannot be read, names and values that no environment has,
// names in StepEnv that steps may never set, paths that are not absolute, negative limits. Permit and Run return it
// too, before anything else. It is a mistake of the host, not of a pipeline.
func (p Policy) Valid() error {
	if _, err := p.patterns(); err != nil {
		return err
	}
	for _, err := range []error{
		validEnv("Env", p.Env), validEnv("Secrets", p.Secrets), p.validNames(), p.validPaths(), p.validLimits(),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}

func validEnv(field string, env map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(env)) {
		bad := cmp.Or(badName(name), badValue(env[name]))
		if bad == "" && field == "Secrets" && sameCase(name) == "PATH" {
			bad = "what programs are found in is not a secret: set it in Env"
		}
		if bad != "" {
			return fmt.Errorf("command policy: %s has '%s': %s", field, name, bad)
		}
	}
	return nil
}

func (p Policy) validNames() error {
	for i, name := range p.PassEnv {
		if bad := badName(name); bad != "" {
			return fmt.Errorf("command policy: PassEnv[%d] is '%s': %s", i, name, bad)
		}
	}
	for i, name := range p.StepEnv {
		bad := cmp.Or(badName(name), reserved(name))
		if _, ok := p.Secrets[name]; ok {
			bad = cmp.Or(bad, "it is the name of a secret")
		}
		if bad != "" {
			return fmt.Errorf("command policy: StepEnv[%d] is '%s', which no step may set: %s", i, name, bad)
		}
	}
	return nil
}

func (p Policy) validPaths() error {
	for _, list := range []struct {
		field string
		paths []string
	}{{"Read", p.Read}, {"Write", p.Write}} {
		for i, path := range list.paths {
			if !filepath.IsAbs(path) {
				return fmt.Errorf("command policy: %s[%d] '%s' is not an absolute path", list.field, i, path)
			}
		}
	}
	if p.Scratch != "" && !filepath.IsAbs(p.Scratch) {
		return fmt.Errorf("command policy: Scratch '%s' is not an absolute path", p.Scratch)
	}
	return nil
}

func (p Policy) validLimits() error {
	for _, limit := range []struct {
		field string
		n     int64
	}{
		{"MaxTimeout", int64(p.MaxTimeout)}, {"MaxOutput", p.MaxOutput}, {"MaxPrinted", p.MaxPrinted},
		{"MaxChangedFiles", int64(p.MaxChangedFiles)}, {"MaxScratchFiles", int64(p.MaxScratchFiles)},
		{"MaxScratchBytes", p.MaxScratchBytes},
	} {
		if limit.n < 0 {
			return fmt.Errorf("command policy: %s is negative", limit.field)
		}
	}
	if p.Sandbox > Off {
		return fmt.Errorf("command policy: Sandbox is %d, which is none of Required, BestEffort and Off", p.Sandbox)
	}
	return nil
}
