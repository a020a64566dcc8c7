package command

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
)

// findGo adds the root of Go, its modules, and the user's settings of `go env -w`. With a network, missing modules are
// fetched into a cache of the commands; the user's modules are read from the disk.
func (f *fitting) findGo() error {
	set := goSettings()
	if root := absolute(set("GOROOT")); root != "" {
		f.read(root)
		f.set("GOROOT", root)
	}
	gopath := absolute(firstPath(set("GOPATH")))
	if gopath == "" {
		gopath = f.below("go")
	}
	if gopath == "" {
		return nil
	}
	f.read(filepath.Join(gopath, "bin"))
	modules := cmp.Or(absolute(set("GOMODCACHE")), filepath.Join(gopath, "pkg", "mod"))
	f.read(modules)
	for _, name := range []string{"GOFLAGS", "GOPRIVATE", "GONOPROXY", "GONOSUMDB"} {
		if value := set(name); value != "" {
			f.set(name, value)
		}
	}
	if !f.Network {
		f.set("GOMODCACHE", modules)
		return nil
	}
	f.set("GOPROXY", "file://"+filepath.ToSlash(filepath.Join(modules, "cache", "download"))+","+
		cmp.Or(set("GOPROXY"), "https://proxy.golang.org,direct"))
	return f.cache("GOMODCACHE", filepath.Join("go", "modules"))
}

// goSettings returns the function that looks up a variable of Go: in the environment, or in the file of `go env -w`.
func goSettings() func(name string) string {
	file := os.Getenv("GOENV")
	if dir, err := os.UserConfigDir(); file == "" && err == nil {
		file = filepath.Join(dir, "go", "env")
	}
	text, err := os.ReadFile(file)
	if err != nil {
		text = nil // the file is missing, or GOENV is off
	}
	return func(name string) string {
		if value := os.Getenv(name); value != "" {
			return value
		}
		for line := range strings.Lines(string(text)) {
			if value, ok := strings.CutPrefix(strings.TrimSpace(line), name+"="); ok {
				return value
			}
		}
		return ""
	}
}

// firstPath returns the first path of a list.
func firstPath(list string) string {
	if all := filepath.SplitList(list); len(all) > 0 {
		return all[0]
	}
	return ""
}

// findPython adds the Python virtual environment of the user or of the tree. The tree's environment is used in place,
// because a copy would lack its links, and comes last in PATH: nothing in a tree replaces a program of the user. Its
// programs are untrusted, so they are used only if the sandbox is required.
func (f *fitting) findPython() error {
	if env := absolute(os.Getenv("VIRTUAL_ENV")); env != "" && f.virtual(env, f.prefix) {
		f.set("VIRTUAL_ENV", env)
	}
	if f.Sandbox != Required {
		return nil
	}
	for _, name := range []string{".venv", "venv"} {
		env := filepath.Join(f.root, name)
		if info, err := os.Lstat(env); err == nil && info.IsDir() && f.virtual(env, f.python) {
			f.Env["PATH"] = f.path() + string(filepath.ListSeparator) + filepath.Join(env, "bin")
			break
		}
	}
	return nil
}

// virtual makes a virtual environment readable for commands, and calls base with the prefix of the installation that it
// is based on. It reports whether the directory is a virtual environment.
func (f *fitting) virtual(env string, base func(prefix string)) bool {
	text, err := os.ReadFile(filepath.Join(env, "pyvenv.cfg"))
	if err != nil {
		return false
	}
	f.read(env)
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, "=")
		bin := absolute(strings.TrimSpace(value))
		if strings.TrimSpace(name) == "home" && filepath.Base(bin) == "bin" {
			base(filepath.Dir(bin))
		}
	}
	return true
}

// prefix makes an installation of programs readable. The directory .local of the user has more than programs.
func (f *fitting) prefix(dir string) {
	if installs(dir) && dir != f.below(".local") {
		f.read(dir)
	}
}

// python makes the Python of an installation readable, and nothing else there: a file of the tree names the directory.
func (f *fitting) python(dir string) {
	if lies(dir, f.root) || strings.ContainsAny(dir, `*?[\`) {
		return
	}
	for _, part := range []string{"bin/python*", "lib/python*", "lib/libpython*"} {
		found, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(part)))
		if err != nil {
			return
		}
		for _, file := range found {
			f.read(file)
		}
	}
}

// findMaven makes Maven write to a repository of the commands, and read the user's repository.
func (f *fitting) findMaven() error {
	if err := f.cache("MAVEN_LOCAL", filepath.Join("java", "maven")); err != nil {
		return err
	}
	args := "-Dmaven.repo.local=" + f.Env["MAVEN_LOCAL"]
	if repository := f.below(".m2/repository"); repository != "" {
		args += " -Dmaven.repo.local.tail=" + repository
	}
	if !f.Network {
		args += " --offline"
	}
	f.set("MAVEN_ARGS", args)
	return nil
}
