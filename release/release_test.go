package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tiny is a repository with the modules that are released, which import each other.
var tiny = map[string]string{
	"LICENSE":                "do what you want\n",
	"go.mod":                 "module github.com/millrace-go/millrace\n\ngo 1.26.0\n",
	"lib.go":                 "package millrace\n\nconst Name = \"millrace\"\n",
	"yamlform/go.mod":        "module github.com/millrace-go/millrace/yamlform\n\ngo 1.26.0\n\nrequire github.com/millrace-go/millrace v0.0.0\n\nreplace github.com/millrace-go/millrace => ../\n",
	"yamlform/go.sum":        "",
	"gocode/go.mod":          "module github.com/millrace-go/millrace/gocode\n\ngo 1.26.0\n\nrequire github.com/millrace-go/millrace v0.0.0\n\nreplace github.com/millrace-go/millrace => ../\n",
	"gocode/go.sum":          "",
	"gocode/g.go":            "package gocode\n\nimport \"github.com/millrace-go/millrace\"\n\nconst Name = millrace.Name + \" go\"\n",
	"yamlform/y.go":          "package yamlform\n\nimport \"github.com/millrace-go/millrace\"\n\nconst Name = millrace.Name + \" yaml\"\n",
	"mcpserver/go.mod":       "module github.com/millrace-go/millrace/mcpserver\n\ngo 1.26.0\n\nrequire github.com/millrace-go/millrace v0.0.0\n\nreplace github.com/millrace-go/millrace => ../\n",
	"mcpserver/go.sum":       "",
	"mcpserver/m.go":         "package mcpserver\n\nimport \"github.com/millrace-go/millrace\"\n\nconst Name = millrace.Name + \" mcp\"\n",
	"cmd/millrace/go.mod":    "module github.com/millrace-go/millrace/cmd/millrace\n\ngo 1.26.0\n\nrequire (\n\tgithub.com/millrace-go/millrace/mcpserver v0.0.0\n\tgithub.com/millrace-go/millrace/yamlform v0.0.0\n)\n\nrequire github.com/millrace-go/millrace v0.0.0 // indirect\n\nreplace (\n\tgithub.com/millrace-go/millrace => ../../\n\tgithub.com/millrace-go/millrace/mcpserver => ../../mcpserver\n\tgithub.com/millrace-go/millrace/yamlform => ../../yamlform\n)\n",
	"cmd/millrace/go.sum":    "",
	"cmd/millrace/main.go":   "package main\n\nimport (\n\t\"fmt\"\n\t\"runtime/debug\"\n\n\t\"github.com/millrace-go/millrace/mcpserver\"\n\t\"github.com/millrace-go/millrace/yamlform\"\n)\n\nfunc main() {\n\tinfo, _ := debug.ReadBuildInfo()\n\tfmt.Println(info.Main.Version, yamlform.Name, mcpserver.Name)\n}\n",
	"testdata/not/a/file.go": "this is part of the library's zip file\n",
}

func repository(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	do(t, root, "init", "-q")
	do(t, root, "add", "-A")
	return root
}

func do(t *testing.T, root string, args ...string) {
	t.Helper()
	if _, err := git(root, append([]string{"-c", "user.name=n", "-c", "user.email=e@example.com", "-c", "commit.gpgsign=false"}, args...)...); err != nil {
		t.Fatal(err)
	}
}

// The go command installs what was prepared, from the proxy alone, and finds the hashes that go.sum has.
func TestInstall(t *testing.T) {
	root, out := repository(t, tiny), t.TempDir()
	if err := run([]string{"prepare", root, "v0.7.0"}); err != nil {
		t.Fatal(err)
	}
	do(t, root, "commit", "-q", "-m", "release")
	if err := run([]string{"proxy", root, "v0.7.0", out}); err != nil {
		t.Fatal(err)
	}
	gopath := t.TempDir()
	command := func(dir, name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOPATH="+gopath, "GOMODCACHE=", "GOBIN=", "GOFLAGS=-modcacherw", "GOPROXY=file://"+filepath.ToSlash(out), "GONOSUMDB=*", "GOWORK=off", "GOTOOLCHAIN=local", "GOOS=", "GOARCH=")
		text, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %v: %v\n%s", name, args, err, text)
		}
		return string(text)
	}
	command(gopath, "go", "install", "github.com/millrace-go/millrace/cmd/millrace@v0.7.0")
	if got, want := command(gopath, filepath.Join(gopath, "bin", "millrace")), "v0.7.0 millrace yaml millrace mcp\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	command(filepath.Join(root, "cmd", "millrace"), "go", "build", "-o", os.DevNull, ".") // with go.sum
	if diff := command(filepath.Join(root, "cmd", "millrace"), "go", "mod", "tidy", "-diff"); diff != "" {
		t.Error(diff)
	}
}

// A version that go install would refuse is refused before.
func TestRefused(t *testing.T) {
	changed := func(name, old, text string) map[string]string {
		files := make(map[string]string)
		for file, data := range tiny {
			if file == name {
				data = strings.Replace(data, old, text, 1)
			}
			files[file] = data
		}
		return files
	}
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"foreign replace": {changed("yamlform/go.mod", "replace github.com/millrace-go/millrace =>", "replace example.com/x =>"),
			"yamlform: go.mod replaces example.com/x, which go install refuses"},
		"wrong order": {changed("yamlform/go.mod", "require github.com/millrace-go/millrace v0.0.0", "require github.com/millrace-go/millrace/mcpserver v0.0.0"),
			"yamlform: go.mod requires github.com/millrace-go/millrace/mcpserver, which is not released before it"},
	} {
		err := run([]string{"prepare", repository(t, c.files), "v0.7.0"})
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
	root := repository(t, tiny)
	do(t, root, "commit", "-q", "-m", "not prepared")
	if err := run([]string{"proxy", root, "v0.7.0", t.TempDir()}); err == nil || !strings.Contains(err.Error(), "has a replace") {
		t.Errorf("not prepared: %v", err)
	}
	if err := run([]string{"prepare", root, "v0.7.0"}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "lib.go"), []byte("package millrace\n\nconst Name = \"other\"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	do(t, root, "commit", "-q", "-a", "-m", "changed since")
	if err := run([]string{"proxy", root, "v0.7.0", t.TempDir()}); err == nil || !strings.Contains(err.Error(), "go.sum of yamlform lacks") {
		t.Errorf("changed since: %v", err)
	}
	for version, want := range map[string]string{
		"0.7.0": "is not a version", "v0.7": "is not a version", "v0.7.0+x": "is not a version", "v2.0.0": "paths of the modules end with /v2", "": "is not a version",
	} {
		if err := run([]string{"tags", version}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", version, err)
		}
	}
}

func TestTags(t *testing.T) {
	var got []string
	for _, dir := range released {
		got = append(got, tag(dir, "v0.7.0"))
	}
	if diff := cmp.Diff([]string{"v0.7.0", "yamlform/v0.7.0", "gocode/v0.7.0", "mcpserver/v0.7.0", "cmd/millrace/v0.7.0"}, got); diff != "" {
		t.Error(diff)
	}
}
