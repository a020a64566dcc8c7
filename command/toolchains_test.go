package command_test

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/millrace-go/millrace/command"
)

// inHome creates a home and a tree with files, removes all variables of toolchains from the environment, and returns
// both.
func inHome(t *testing.T, files ...string) (home, tree string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the homes of these toolchains are those of Unix")
	}
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home, tree = filepath.Join(top, "home"), filepath.Join(top, "tree")
	for _, name := range files {
		write(t, filepath.Join(top, filepath.FromSlash(name)), "x\n")
	}
	for _, dir := range []string{home, tree} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("HOME", home)
	t.Setenv("PATH", "/usr/bin:/bin")
	for _, name := range strings.Fields(`XDG_CACHE_HOME XDG_CONFIG_HOME GOROOT GOPATH GOMODCACHE GOENV GOFLAGS GOPROXY GOCACHE VIRTUAL_ENV
		CARGO_HOME RUSTUP_HOME JAVA_HOME GRADLE_RO_DEP_CACHE DOTNET_ROOT NUGET_FALLBACK_PACKAGES GEM_HOME BUNDLE_PATH PIPX_HOME
		ASDF_DATA_DIR MISE_DATA_DIR NVM_DIR PYENV_ROOT RBENV_ROOT VOLTA_HOME SDKMAN_DIR HOMEBREW_PREFIX COREPACK_HOME`) {
		t.Setenv(name, "")
	}
	return home, tree
}

// Each row makes the needed parts of a home readable, and nothing next to them; it has a cache, and stays offline.
func TestToolchains_rows(t *testing.T) {
	for _, tt := range []struct {
		name, mark string
		reads      []string // below the home
		hidden     []string
		caches     []string
		offline    string
	}{
		{"go", "go.mod", []string{"go/pkg/mod", "go/bin"}, []string{"go/src/secret"}, []string{"GOCACHE"}, "GOPROXY=off"},
		{"go below", "api/go.mod", []string{"go/pkg/mod"}, nil, []string{"GOCACHE"}, "GOPROXY=off"},
		{"node", "package.json", []string{".cache/node/corepack"}, []string{".npmrc", ".npm/x"},
			[]string{"npm_config_cache", "YARN_CACHE_FOLDER"}, "npm_config_offline=true"},
		{"python", "pyproject.toml", []string{".local/share/uv"}, []string{".pypirc"},
			[]string{"PIP_CACHE_DIR", "RUFF_CACHE_DIR"}, "PIP_NO_INDEX=1"},
		{"python below", "api/requirements-dev.txt", []string{".local/share/uv"}, nil, []string{"PIP_CACHE_DIR"}, "PIP_NO_INDEX=1"},
		{"rust", "Cargo.toml", []string{".cargo/registry", ".cargo/bin", ".rustup/toolchains"}, []string{".cargo/credentials.toml"},
			[]string{"CARGO_TARGET_DIR"}, "CARGO_NET_OFFLINE=true"},
		{"java", "pom.xml", []string{".m2/repository", ".gradle/caches"}, []string{".m2/settings.xml", ".gradle/gradle.properties"},
			[]string{"GRADLE_USER_HOME", "MAVEN_LOCAL"}, ""},
		{"dotnet", "app.sln", []string{".dotnet/sdk", ".nuget/packages"}, []string{".dotnet/corefx/key", ".nuget/NuGet/NuGet.Config"},
			[]string{"NUGET_PACKAGES"}, ""},
		{"ruby", "Gemfile", []string{".gem/ruby", ".local/share/gem"}, []string{".gem/credentials"}, []string{"BUNDLE_USER_HOME"}, ""},
		{"installed", "notes.txt", []string{".local/bin", ".asdf", ".local/share/mise", ".nvm", ".pyenv"},
			[]string{".ssh/id", ".config/mise/config.toml"}, nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files := []string{"tree/" + tt.mark}
			for _, dir := range tt.reads {
				files = append(files, "home/"+dir+"/file")
			}
			for _, name := range tt.hidden {
				files = append(files, "home/"+name)
			}
			home, tree := inHome(t, files...)
			p, err := command.Toolchains(command.Policy{}, tree)
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Valid(); err != nil {
				t.Error(err)
			}
			for _, dir := range tt.reads {
				if !reaches(p.Read, filepath.Join(home, dir, "file")) {
					t.Errorf("%s cannot be read: %q", dir, p.Read)
				}
			}
			for _, name := range tt.hidden {
				if reaches(slices.Concat(p.Read, p.Write), filepath.Join(home, name)) {
					t.Errorf("%s can be read: %q, %q", name, p.Read, p.Write)
				}
			}
			caches, err := os.UserCacheDir()
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range tt.caches {
				if dir := p.Env[name]; !slices.Contains(p.Write, dir) || !reaches([]string{caches}, dir) {
					t.Errorf("%s is %q, and writable are %q", name, dir, p.Write)
				}
			}
			if name, value, ok := strings.Cut(tt.offline, "="); ok && p.Env[name] != value {
				t.Errorf("%s is %q", name, p.Env[name])
			}
			other, err := command.Toolchains(command.Policy{}, filepath.Dir(tree))
			if err != nil || slices.ContainsFunc(p.Write, func(dir string) bool { return slices.Contains(other.Write, dir) }) {
				t.Errorf("two trees share a cache: %q, %q, %v", p.Write, other.Write, err)
			}
		})
	}
}

// reaches reports whether a path is in a list, or below a path of it.
func reaches(above []string, path string) bool {
	return slices.ContainsFunc(above, func(dir string) bool { return path == dir || strings.HasPrefix(path, dir+"/") })
}

// The policy of the host stays, and the words of a command add a toolchain without files in the tree.
func TestToolchains_keepsThePolicy(t *testing.T) {
	home, tree := inHome(t, "home/go/pkg/mod/x", "home/tools/bin/x")
	own := command.Policy{
		Network: true, Env: map[string]string{"GOCACHE": "/own"}, Read: []string{"/own"}, Scratch: filepath.Join(home, "scratch"),
	}
	p, err := command.Toolchains(own, tree, "go", "vet")
	if err != nil {
		t.Fatal(err)
	}
	if p.Env["GOCACHE"] != "/own" || !slices.Contains(p.Read, "/own") || !p.Network {
		t.Errorf("%+v", p)
	}
	if len(own.Env) != 1 || len(own.Read) != 1 || len(own.Write) != 0 {
		t.Errorf("the host's policy was changed: %+v", own)
	}
	want := "file://" + home + "/go/pkg/mod/cache/download,"
	if !strings.HasPrefix(p.Env["GOPROXY"], want) || !reaches([]string{own.Scratch}, p.Env["GOMODCACHE"]) {
		t.Errorf("with a network: GOPROXY=%s GOMODCACHE=%s", p.Env["GOPROXY"], p.Env["GOMODCACHE"])
	}
	if p, err = command.Toolchains(command.Policy{}, tree, "cat"); err != nil || p.Env["GOCACHE"] != "" {
		t.Errorf("a tree without Go has GOCACHE=%s, %v", p.Env["GOCACHE"], err)
	}
}

// Neither the home nor the tree becomes readable because of a program or a variable in it.
func TestToolchains_neverTheHome(t *testing.T) {
	home, tree := inHome(t, "tree/go.mod", "home/lib/x", "tree/lib/x", "home/.ssh/id")
	for _, dir := range []string{home, tree} {
		write(t, filepath.Join(dir, "bin", "tool"), "#!/bin/sh\n")
		if err := os.Chmod(filepath.Join(dir, "bin", "tool"), 0o755); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", filepath.Join(dir, "bin"))
		t.Setenv("GOROOT", dir)
		t.Setenv("NVM_DIR", filepath.Dir(home))
		t.Setenv("HOMEBREW_PREFIX", "/")
		p, err := command.Toolchains(command.Policy{}, tree, "tool")
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(p.Read, filepath.Join(dir, "bin", "tool")) {
			t.Errorf("the program cannot be read: %q", p.Read)
		}
		for _, name := range []string{filepath.Join(home, ".ssh", "id"), filepath.Join(tree, "go.mod")} {
			if reaches(p.Read, name) {
				t.Errorf("%s can be read: %q", name, p.Read)
			}
		}
	}
}

// Settings of `go env -w` are used, but the environment overrides them.
func TestToolchains_goEnv(t *testing.T) {
	home, tree := inHome(t, "tree/go.mod", "mods/x", "path/bin/x")
	top := filepath.Dir(home)
	write(t, filepath.Join(home, ".config", "go", "env"), "GOPATH="+top+"/path\nGOMODCACHE="+top+"/mods\nGOFLAGS=-mod=mod\n")
	if runtime.GOOS == "darwin" {
		t.Skip("the file lies elsewhere on macOS")
	}
	t.Setenv("GOFLAGS", "-mod=vendor")
	p, err := command.Toolchains(command.Policy{}, tree)
	if err != nil || p.Env["GOMODCACHE"] != top+"/mods" || p.Env["GOFLAGS"] != "-mod=vendor" || !reaches(p.Read, top+"/path/bin/x") {
		t.Errorf("%q, %q, %v", p.Env, p.Read, err)
	}
}

// A virtual environment of the tree is used in place, and its programs come after those of the user.
func TestToolchains_virtualEnvironment(t *testing.T) {
	home, tree := inHome(t, "python/lib/x", "python/bin/python3", "other/lib/x", "other/bin/python3")
	top := filepath.Dir(home)
	write(t, filepath.Join(tree, ".venv", "pyvenv.cfg"), "home = "+top+"/python/bin\nversion = 3\n")
	write(t, filepath.Join(top, "active", "pyvenv.cfg"), "home = "+top+"/other/bin\n")
	t.Setenv("VIRTUAL_ENV", filepath.Join(top, "active"))
	p, err := command.Toolchains(command.Policy{}, tree)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"tree/.venv/pyvenv.cfg", "python/bin/python3", "active/pyvenv.cfg", "other/bin/python3"} {
		if !reaches(p.Read, filepath.Join(top, name)) {
			t.Errorf("%s cannot be read: %q", name, p.Read)
		}
	}
	if p.Env["PATH"] != "/usr/bin:/bin:"+tree+"/.venv/bin" {
		t.Errorf("PATH is %s", p.Env["PATH"])
	}
	for _, sandbox := range []command.Sandbox{command.BestEffort, command.Off} {
		p, err := command.Toolchains(command.Policy{Sandbox: sandbox}, tree)
		if err != nil || p.Env["PATH"] != "" {
			t.Errorf("sandbox %v: programs of the tree are found by PATH=%s, %v", sandbox, p.Env["PATH"], err)
		}
	}
}

// A virtual environment of the tree opens only the Python that it names, and a link in its place opens nothing. Programs
// in .local/bin open no other directory of .local.
func TestToolchains_planted(t *testing.T) {
	home, tree := inHome(t, "home/app/lib/python3/os.py", "home/app/bin/python3", "home/app/.env", "home/.local/lib/x",
		"home/.local/bin/ruff", "home/.local/share/keyrings/login", "home/private/pyvenv.cfg")
	write(t, filepath.Join(tree, ".venv", "pyvenv.cfg"), "home = "+home+"/app/bin\nhome = "+home+"/.local/bin\n")
	if err := os.Symlink(filepath.Join(home, "private"), filepath.Join(tree, "venv")); err != nil {
		t.Skip(err)
	}
	t.Setenv("PATH", filepath.Join(home, ".local", "bin"))
	check := func(want map[string]bool) {
		t.Helper()
		p, err := command.Toolchains(command.Policy{}, tree, "ruff")
		if err != nil {
			t.Fatal(err)
		}
		for name, can := range want {
			if reaches(p.Read, filepath.Join(home, name)) != can {
				t.Errorf("%s can be read: %v, of %q", name, !can, p.Read)
			}
		}
	}
	check(map[string]bool{"app/bin/python3": true, "app/lib/python3/os.py": true, "app/.env": false, ".local/bin/ruff": true,
		".local/share/keyrings/login": false, "private/pyvenv.cfg": false})
	if err := os.RemoveAll(filepath.Join(tree, ".venv")); err != nil {
		t.Fatal(err)
	}
	check(map[string]bool{"private/pyvenv.cfg": false})
}

// Caches of trees in which no command has run for long are removed, and nothing else.
func TestToolchains_oldCaches(t *testing.T) {
	_, tree := inHome(t, "tree/go.mod")
	scratch := t.TempDir()
	policy := func(root string) {
		t.Helper()
		if _, err := command.Toolchains(command.Policy{Scratch: scratch}, root); err != nil {
			t.Fatal(err)
		}
	}
	top := filepath.Join(scratch, "millrace-toolchains")
	for name, days := range map[string]int{
		"0123456789abcdef": 31, "fedcba9876543210": 29, "of the user": 400, "0123": 400,
	} {
		dir := filepath.Join(top, name, "go", "modules", "m@v1")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "m.go"), []byte("package m\n"), 0o400); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, 0o500); err != nil { // like the module cache of Go
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
		then := time.Now().AddDate(0, 0, -days)
		if err := os.Chtimes(filepath.Join(top, name), then, then); err != nil {
			t.Fatal(err)
		}
	}
	outside := filepath.Join(t.TempDir(), "kept")
	if err := os.MkdirAll(outside, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(top, "00000000000000ff")); err != nil {
		t.Fatal(err)
	}
	policy(tree)
	own, err := filepath.Glob(filepath.Join(top, "*"))
	if err != nil || len(own) != 5 || slices.Contains(own, filepath.Join(top, "0123456789abcdef")) {
		t.Fatalf("left are %q, %v", own, err)
	}
	// The cache of a tree is as new as the last policy for the tree.
	//
	for _, dir := range own {
		if err := os.Chtimes(dir, time.Unix(0, 0), time.Unix(0, 0)); err != nil {
			t.Fatal(err)
		}
	}
	policy(tree)
	if own, err = filepath.Glob(filepath.Join(top, "*")); err != nil || len(own) != 4 {
		t.Errorf("left are %q, %v", own, err)
	}
}
