package command

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/internal/panics"
)

// cookie is the variable that marks the processes of a command. If this program itself runs in a command, the value is
// that command's value, a dot, and a new value, so that a search for the outer value finds both.
const cookie = "MILLRACE_EXEC"

// rootMark returns the part of the cookie's value for the tree, so that processes left in the tree can be found later.
func rootMark(root string) string {
	sum := sha256.Sum256([]byte(root))
	return "-" + hex.EncodeToString(sum[:8])
}

// sameCase returns a name in the form for comparison: on Windows, path is PATH.
func sameCase(name string) string {
	if runtime.GOOS == "windows" {
		return strings.ToUpper(name)
	}
	return name
}

// reserved returns the reason why a step may never set a name, "" if it may.
func reserved(name string) string {
	switch upper := sameCase(name); {
	case upper == "PATH", upper == "HOME", strings.HasPrefix(upper, "GIT_"), strings.HasPrefix(upper, "LD_"),
		strings.HasPrefix(upper, "DYLD_"):
		return "it decides what runs"
	case strings.HasPrefix(upper, "MILLRACE_"):
		return "it is set by millrace"
	}
	return ""
}

// badName returns the reason why an environment cannot have a name, "" if it can.
func badName(name string) string {
	switch {
	case name == "":
		return "it has no name"
	case strings.ContainsAny(name, "=\x00"):
		return "its name has a '=' or a NUL byte"
	}
	return ""
}

// badValue returns the reason why an environment cannot have a value, "" if it can.
func badValue(value string) string {
	if strings.ContainsRune(value, 0) {
		return "its value has a NUL byte"
	}
	return ""
}

// environment is the environment of a command, by name. On Windows names that differ only in case are the same.
type environment map[string]string

func (e environment) set(name, value string) {
	if runtime.GOOS == "windows" {
		for old := range e {
			if strings.EqualFold(old, name) {
				delete(e, old)
			}
		}
	}
	e[name] = value
}

// setAll sets the variables of a map.
func (e environment) setAll(more map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(more)) {
		e.set(name, more[name])
	}
}

// setNew sets a variable that is not set yet.
func (e environment) setNew(name, value string) {
	for old := range e {
		if sameCase(old) == sameCase(name) {
			return
		}
	}
	e[name] = value
}

// list returns the environment in the form for a process, in order.
func (e environment) list() []string {
	all := make([]string, 0, len(e))
	for _, name := range slices.Sorted(maps.Keys(e)) {
		all = append(all, name+"="+e[name])
	}
	return all
}

// path returns the directories in which programs are looked up. They are absolute: an entry such as "." would run
// programs that a step has put into the tree.
func (p Policy) path() string {
	list, set := "", false
	for name, value := range p.Env {
		if sameCase(name) == "PATH" {
			list, set = value, true
		}
	}
	if !set {
		list = os.Getenv("PATH")
	}
	dirs := slices.DeleteFunc(filepath.SplitList(list), func(dir string) bool { return !filepath.IsAbs(dir) })
	return strings.Join(dirs, string(filepath.ListSeparator))
}

// environment returns the environment of a command. The step's variables have already been permitted.
func (p Policy) environment(ctx context.Context, c Command) (environment, error) {
	env := make(environment)
	for _, name := range slices.Concat([]string{"LANG"}, system(), p.PassEnv) {
		if value, ok := os.LookupEnv(name); ok {
			env.set(name, value)
		}
	}
	if p.EnvFor != nil {
		var more map[string]string
		err := panics.Protect(func() error { more = p.EnvFor(ctx); return nil })
		if err != nil {
			return nil, fmt.Errorf("command policy: EnvFor failed: %w", err)
		}
		for _, name := range slices.Sorted(maps.Keys(more)) {
			if sameCase(name) == "PATH" {
				return nil, errors.New("command policy: EnvFor cannot set PATH: set it in Env")
			}
			if bad := cmp.Or(badName(name), badValue(more[name])); bad != "" {
				return nil, fmt.Errorf("command policy: EnvFor has '%s': %s", name, bad)
			}
		}
		env.setAll(more)
	}
	env.setAll(p.Env)
	env.setAll(p.Secrets)
	env.setAll(c.Env)
	env.set("PATH", p.path())
	if c.Home != "" {
		env.setNew("HOME", c.Home)
	}
	if c.Temp != "" {
		env.setNew("TMPDIR", c.Temp)
	}
	if runtime.GOOS == "windows" && c.Temp != "" && c.Home != "" {
		env.setNew("TEMP", c.Temp)
		env.setNew("TMP", c.Temp)
		env.setNew("USERPROFILE", c.Home)
	}
	if c.Root != "" {
		env.setNew("GIT_CEILING_DIRECTORIES", filepath.Dir(c.Root))
	}
	delete(env, "MILLRACE_SHARED")
	if c.Shared != "" {
		env["MILLRACE_SHARED"] = c.Shared
	}
	return env, nil
}

// system returns the host's variables that a program needs to start at all.
func system() []string {
	if runtime.GOOS == "windows" {
		return []string{"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "NUMBER_OF_PROCESSORS",
			"PROCESSOR_ARCHITECTURE"}
	}
	return nil
}
