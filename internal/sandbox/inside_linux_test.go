package sandbox_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/sandbox"
)

// Each act works inside: a sandbox that refuses everything would pass every other test.
func TestInside(t *testing.T) {
	status := protected(t)
	in := func(names ...string) func(place) []string {
		return func(p place) []string {
			var args []string
			for _, name := range names {
				args = append(args, filepath.Join(p.tree, name))
			}
			return args
		}
	}
	for _, e := range []escape{
		{"read", "read", in("file")},
		{"list", "list", in("a")},
		{"make a file", "create", in("a")},
		{"write", "write", in("file")},
		{"cut", "cut", in("file")},
		{"rename between directories", "rename", in("a/one", "b/one")},
		{"rename a directory into another", "rename", in("a", "b/a")},
		{"link between directories", "link", in("a/one", "b/linked")},
		{"make a symbolic link", "symlink", in("a/one", "b/symbolic")},
		{"make a directory", "mkdir", in("a")},
		{"make a named pipe", "mkfifo", in("pipe")},
		{"remove", "remove", in("file")},
		{"read the system", "read", with("/etc/passwd")},
		{"read about itself", "read", with("/proc/self/environ")},
		{"write nowhere", "write", with("/dev/null")},
		{"execute a program", "execute", with("/bin/true")},
		{"pairs of sockets", "socketpair", with()},
	} {
		t.Run(strings.ReplaceAll(e.name, " ", "_"), func(t *testing.T) {
			p := newPlace(t)
			if err := p.do(t, p.rules(t), e.act, e.args(p)...); err != nil {
				t.Errorf("%v; the system has %v", err, status)
			}
		})
	}
}

// Real programs work: a shell with pipes, redirections and processes in the background, and the tools of Go.
func TestInside_programs(t *testing.T) {
	protected(t)
	for name, script := range map[string]string{
		"shell": `set -e
			echo one two | tr ' ' '\n' > words; test "$(wc -l < words)" -eq 2
			cat < words > /dev/null; sleep 0 & wait
			mkdir -p deep/er; mv words deep/er; cp -p deep/er/words .; chmod 700 words; touch -d 2001-01-01 words
			test -x words; ln -s deep/er/words short; cat short >&2; f=$(mktemp); echo temp > "$f"; rm "$f"
			test "$(head -c 8 /dev/urandom | wc -c)" -eq 8; cat /proc/self/status > /dev/null`,
		"gofmt": `printf 'package p\nvar  a=1\n' > p.go; gofmt -w p.go; grep -q 'var a = 1' p.go`,
		"go":    `printf 'module m\ngo 1.21\n' > go.mod; printf 'package main\nfunc main(){println("ran")}\n' > main.go; go build -o m . && ./m`,
		"git":   `git init -q . && git add file && git -c user.name=a -c user.email=a@b commit -qm one && git status --short && git gc -q`,
		"perl":  `perl -e 'open F, ">p"; print F "x"; close F; system("true") == 0 or die; fork or exit; wait' && test -s p`,
		"node": `node -e "const fs = require('fs'); fs.writeFileSync('n', 'x'); require('child_process').execSync('true');
			fs.promises.readFile('n').then(() => new (require('worker_threads').Worker)('1', {eval: true}))"`,
		"gcc":  `printf 'int main(){return 0;}\n' > m.c; printf 'm: m.c\n\tgcc -pthread -o m m.c\n' > Makefile; make -s -j2 && ./m`,
		"java": `java -Xshare:auto -XX:+UseSerialGC -version`,
	} {
		t.Run(name, func(t *testing.T) {
			program := strings.TrimSuffix(name, "shell")
			if (name == "go" || name == "java") && fstest.Runs(0, 1, 1) == 0 {
				t.Skip("NOT TESTED: a compiler with an empty cache, and java, take long. MILLRACE_SAMPLES=full tries them")
			}
			p := newPlace(t)
			cmd, out := p.command("")
			cmd.Path, cmd.Args = "/bin/sh", []string{"sh", "-c", script}
			rules := &sandbox.Rules{Write: []string{p.tree}}
			if program != "" {
				path, err := exec.LookPath(program)
				if err != nil {
					t.Skip("NOT TESTED: ", err)
				}
				if path, err = filepath.EvalSymlinks(path); err != nil {
					t.Fatal(err)
				}
				rules.Read = []string{filepath.Dir(filepath.Dir(path))}
			}
			if _, err := sandbox.Run(cmd, rules, nil); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// Root keeps its permissions for files, and nothing else: a program started by it can get only what Run left.
func TestInside_root(t *testing.T) {
	protected(t)
	p := newPlace(t)
	cmd, out := p.command("state")
	if _, err := sandbox.Run(cmd, p.rules(t), nil); err != nil {
		t.Fatal(err)
	}
	want := "CapEff:\t0000000000000000\n"
	if os.Getuid() == 0 {
		want = "CapEff:\t00000000000000db\n"
	}
	if !strings.Contains(out.String(), want) {
		t.Errorf("want %s in\n%s", want, out)
	}
}
