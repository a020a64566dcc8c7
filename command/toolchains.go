package command

import (
	"cmp"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Toolchains returns the policy extended for the toolchains in use: readable paths, separate caches for each tree, and
// the variables that name both. A toolchain is in use if root, the absolute path of the tree, or a directory directly
// below it has a file of the toolchain, such as go.mod, or if a word names one of its programs. Programs that are
// installed below the user's home, by pyenv or nvm for example, become readable as well.
//
// All settings of the policy stay: variables in Env win. Without Network, programs that fetch packages stay offline.
// The caches are in Scratch, or in the user's cache directory. Caches of trees for which no policy was made for 30 days
// are removed. Credentials, such as ~/.npmrc, and the user's home itself do not become readable. The error is about a
// directory that cannot be created.
func Toolchains(p Policy, root string, words ...string) (Policy, error) {
	p.Env, p.Read, p.Write, p.PassEnv = maps.Clone(p.Env), slices.Clone(p.Read), slices.Clone(p.Write), slices.Clone(
		p.PassEnv)
	if p.Env == nil {
		p.Env = make(map[string]string)
	}
	home, err := os.UserHomeDir()
	if err != nil {
		home = "" // then nothing is below it
	}
	f := &fitting{Policy: p, root: root, home: home}
	for _, word := range words {
		f.program(word)
	}
	near := namesNear(root)
	for _, t := range toolchains {
		if !t.used(near, words) {
			continue
		}
		if err := f.add(t); err != nil {
			return Policy{}, err
		}
	}
	f.prune(time.Now())
	slices.Sort(f.Read)
	f.Read = slices.Compact(f.Read)
	return f.Policy, nil
}

// fitting is a policy that is being extended for toolchains.
type fitting struct {
	Policy
	root, home string
	// caches is the directory with the caches of the tree, "" for none.
	caches string
}

// used reports whether a tree with these names, or the words of commands, use a toolchain.
func (t toolchain) used(near map[string]bool, words []string) bool {
	if len(t.files)+len(t.programs) == 0 {
		return true
	}
	if slices.ContainsFunc(words,
		func(word string) bool { return slices.Contains(t.programs, named(filepath.Base(word))) }) {
		return true
	}
	return slices.ContainsFunc(t.files, func(file string) bool { return near[file] })
}

// namesNear reads a tree and the directories directly below it once. It returns the toolchain files that exist there.
func namesNear(root string) map[string]bool {
	exact, globs := make(map[string]bool), []string(nil)
	for _, t := range toolchains {
		for _, file := range t.files {
			if strings.Contains(file, "*") {
				globs = append(globs, file)
			} else {
				exact[file] = true
			}
		}
	}
	near := make(map[string]bool)
	look := func(dir string) []os.DirEntry {
		items, err := os.ReadDir(dir)
		if err != nil {
			return nil // an unreadable directory shows no toolchain
		}
		for _, item := range items {
			name := item.Name()
			if exact[name] {
				near[name] = true
			}
			for _, glob := range globs {
				if ok, err := filepath.Match(glob, name); ok && err == nil {
					near[glob] = true
				}
			}
		}
		return items
	}
	for _, item := range look(root) {
		dir := filepath.Join(root, item.Name())
		if info, err := os.Stat(dir); err == nil && info.IsDir() { // through a symlink too, but never a pipe
			look(dir)
		}
	}
	return near
}

// add extends the policy for a toolchain.
func (f *fitting) add(t toolchain) error {
	for _, name := range t.programs {
		f.program(name)
	}
	for _, h := range t.homes {
		dir := cmp.Or(absolute(os.Getenv(h.variable)), f.below(h.dir))
		if dir == "" {
			continue
		}
		if _, err := os.Stat(dir); err != nil {
			continue
		}
		if h.variable != "" {
			f.set(h.variable, dir)
		}
		if len(h.parts) == 0 {
			f.read(dir)
		}
		for _, part := range h.parts {
			f.read(filepath.Join(dir, filepath.FromSlash(part)))
		}
	}
	if t.find != nil {
		if err := t.find(f); err != nil {
			return err
		}
	}
	f.PassEnv = append(f.PassEnv, t.passes...)
	for name, value := range t.env {
		f.set(name, value)
	}
	if !f.Network {
		for name, value := range t.offline {
			f.set(name, value)
		}
	}
	for name, dir := range t.caches {
		if err := f.cache(name, filepath.Join(t.name, dir)); err != nil {
			return err
		}
	}
	return nil
}

// set sets a variable that the host has not set.
func (f *fitting) set(name, value string) {
	if _, ok := f.Env[name]; !ok && !slices.Contains(f.PassEnv, name) {
		f.Env[name] = value
	}
}

// read makes an existing path, and its link target, readable for commands. A path that contains the user's home or the
// tree is left out: commands read their copy of the tree.
func (f *fitting) read(path string) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return
	}
	for _, kept := range []string{f.home, f.root} {
		realKept, err := filepath.EvalSymlinks(kept)
		if kept == "" || err != nil {
			continue
		}
		if lies(kept, path) || lies(realKept, real) {
			return
		}
	}
	f.Read = append(f.Read, path, real)
}

// lies reports whether a path is the path above, or is below it.
func lies(path, above string) bool {
	rel, err := filepath.Rel(above, path)
	return err == nil && filepath.IsLocal(rel)
}

// program makes a program that is found by name readable for commands, with its installation directory, if that is
// recognized by its form: bin next to lib.
func (f *fitting) program(name string) {
	if strings.HasPrefix(name, ".") {
		return // it is in the tree
	}
	file := ""
	if !filepath.IsAbs(name) {
		file = f.find(name)
	} else if found, err := exec.LookPath(name); err == nil {
		file = filepath.Clean(found)
	}
	real, err := filepath.EvalSymlinks(file)
	if file == "" || err != nil {
		return
	}
	f.read(file)
	if before, _, found := strings.Cut(filepath.ToSlash(real), "/node_modules/"); found {
		f.read(filepath.FromSlash(before + "/node_modules"))
	}
	for _, file := range []string{file, real} {
		bin := filepath.Dir(file)
		if filepath.Base(bin) == "bin" {
			f.prefix(filepath.Dir(bin))
		}
	}
}

// installs reports whether a directory is an installation prefix: of most programs, or of Go.
func installs(prefix string) bool {
	return slices.ContainsFunc([]string{"lib", "pkg"}, func(name string) bool {
		info, err := os.Stat(filepath.Join(prefix, name))
		return err == nil && info.IsDir()
	})
}

// below returns a directory below the user's home, "" if there is none.
func (f *fitting) below(dir string) string {
	if f.home == "" || dir == "" {
		return ""
	}
	return filepath.Join(f.home, filepath.FromSlash(dir))
}

// absolute returns a path if it is absolute.
func absolute(path string) string {
	if !filepath.IsAbs(path) {
		return ""
	}
	return filepath.Clean(path)
}
