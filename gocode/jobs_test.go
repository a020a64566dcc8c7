package gocode_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/millracetest"
)

// The result of another tool for a job is the same, another result, or no result, because the tool cannot express the
// job.
const (
	theSame = "same"
	other   = "other"
	cannot  = "cannot"
)

// egVersion is the version of golang.org/x/tools/cmd/eg that the jobs are compared with.
const egVersion = "golang.org/x/tools/cmd/eg@v0.51.0"

// jobs are the ten jobs of docs/gocode.md. Each has a file, the result of go_rewrite, and the rule of gofmt -r and the
// template of eg with their results.
var jobs = []struct {
	name, params, old, want string
	gofmt, byGofmt          string
	eg, byEg                string
}{
	{"compare", `"pattern": "bytes.Compare(a, b) == 0", "replacement": "bytes.Equal(a, b)"`,
		"import \"bytes\"\n\nfunc F(x, y []byte) bool { return bytes.Compare(x, y) == 0 }\n",
		"import \"bytes\"\n\nfunc F(x, y []byte) bool { return bytes.Equal(x, y) }\n",
		"bytes.Compare(a, b) == 0 -> bytes.Equal(a, b)", theSame,
		"import \"bytes\"\n\nfunc before(a, b []byte) bool { return bytes.Compare(a, b) == 0 }\n" +
			"func after(a, b []byte) bool { return bytes.Equal(a, b) }\n", theSame},
	{"slice", `"pattern": "s[a:len(s)]", "replacement": "s[a:]"`,
		"func F(x []int, y string) ([]int, string) { return x[1:len(x)], y[2:len(y)] }\n",
		"func F(x []int, y string) ([]int, string) { return x[1:], y[2:] }\n",
		"s[a:len(s)] -> s[a:]", theSame,
		"func before(s []int, a int) []int { return s[a:len(s)] }\nfunc after(s []int, a int) []int { return s[a:] }\n",
		other},
	{"package", `"pattern": "ioutil.ReadFile(f)", "replacement": "os.ReadFile(f)"`,
		"import \"io/ioutil\"\n\nfunc F() ([]byte, error) { return ioutil.ReadFile(\"x\") }\n",
		"import \"os\"\n\nfunc F() ([]byte, error) { return os.ReadFile(\"x\") }\n",
		"ioutil.ReadFile(f) -> os.ReadFile(f)", other,
		"import (\n\t\"io/ioutil\"\n\t\"os\"\n)\n\n" +
			"func before(f string) ([]byte, error) { return ioutil.ReadFile(f) }\n" +
			"func after(f string) ([]byte, error) { return os.ReadFile(f) }\n", other},
	{"alias", `"pattern": "strings.Title(s)", "replacement": "strings.ToUpper(s)"`,
		"import str \"strings\"\n\nvar v = str.Title(\"x\")\n", "import str \"strings\"\n\nvar v = str.ToUpper(\"x\")\n",
		"strings.Title(s) -> strings.ToUpper(s)", other,
		"import \"strings\"\n\nfunc before(s string) string { return strings.Title(s) }\n" +
			"func after(s string) string { return strings.ToUpper(s) }\n", theSame},
	{"arguments", `"pattern": "errors.New(fmt.Sprintf(rest))", "replacement": "fmt.Errorf(rest)", "where": ` +
		`{"rest": "args"}`,
		"import (\n\t\"errors\"\n\t\"fmt\"\n)\n\nvar v = errors.New(fmt.Sprintf(\"%d %d\", 1, 2))\n",
		"import (\n\t\"fmt\"\n)\n\nvar v = fmt.Errorf(\"%d %d\", 1, 2)\n",
		"", cannot, "", cannot},
	{"interface", `"pattern": "x.Close()", "replacement": "Shut(x)", "where": {"x": "io.Closer"}`,
		"import \"os\"\n\ntype D struct{}\n\nfunc (D) Close() {}\n\nfunc Shut(x any) error { return nil }\n\n" +
			"func F(f *os.File, d D) { f.Close(); d.Close() }\n",
		"import \"os\"\n\ntype D struct{}\n\nfunc (D) Close() {}\n\nfunc Shut(x any) error { return nil }\n\n" +
			"func F(f *os.File, d D) { Shut(f); d.Close() }\n",
		"x.Close() -> Shut(x)", other, "", cannot},
	{"type", `"pattern": "x + y", "replacement": "strings.Join([]string{x, y}, \"\")", "where": {"x": "string", ` +
		`"y": "string"}`,
		"func F(s string, n int) (string, int) { return s + \"x\", n + 1 }\n",
		"import \"strings\"\n\n" +
			"func F(s string, n int) (string, int) { return strings.Join([]string{s, \"x\"}, \"\"), n + 1 }\n",
		"x + y -> strings.Join([]string{x, y}, \"\")", other,
		"import \"strings\"\n\nfunc before(x, y string) string { return x + y }\n" +
			"func after(x, y string) string { return strings.Join([]string{x, y}, \"\") }\n", theSame},
	{"statements", `"pattern": "if err != nil {\n\treturn err\n}\nreturn nil", "replacement": "return err"`,
		"func F(err error) error {\n\tif err != nil {\n\t\treturn err\n\t}\n\treturn nil\n}\n",
		"func F(err error) error {\n\treturn err\n}\n",
		"", cannot, "", cannot},
	{"between", `"pattern": "mu.Lock()\nbody\nmu.Unlock()", "replacement": "With(mu, func() {\n\tbody\n})", ` +
		`"where": {"mu": "*sync.Mutex", "body": "stmts"}`,
		"import \"sync\"\n\nfunc With(m *sync.Mutex, f func()) {}\n\nfunc F(m *sync.Mutex) {\n\tm.Lock()\n" +
			"\tprintln(1)\n\tprintln(2)\n\tm.Unlock()\n}\n",
		"import \"sync\"\n\nfunc With(m *sync.Mutex, f func()) {}\n\nfunc F(m *sync.Mutex) {\n\tWith(m, func() {\n" +
			"\t\tprintln(1)\n\t\tprintln(2)\n\t})\n}\n",
		"", cannot, "", cannot},
	{"removal", `"pattern": "log.Println(rest)", "replacement": "", "where": {"rest": "args"}`,
		"import \"log\"\n\nfunc F() {\n\tprintln(1)\n\tlog.Println(\"here\")\n}\n", "func F() {\n\tprintln(1)\n}\n",
		"", cannot, "", cannot},
}

// TestJobs does the ten jobs of docs/gocode.md and compares the results of gofmt -r and eg.
func TestJobs(t *testing.T) {
	const head = "package m\n\n"
	const files = "-- go.mod --\nmodule example.com/m\n\ngo 1.25\n-- a.go --\n" + head
	for _, job := range jobs {
		t.Run(job.name, func(t *testing.T) {
			fsys := millracetest.Tree(t, files+job.old)
			must(t, goCommand(t), fsys,
				`{"id": "rewrite", "action": "go_rewrite", "params": {`+job.params+`}}, {"id": "format", "action": "go_format"}`)
			millracetest.Equal(t, fsys, files+job.want)
			made := func(by, expected string, args ...string) {
				if expected == cannot {
					return
				}
				dir := t.TempDir()
				root := openRoot(t, dir)
				millracetest.Plant(t, root, files+job.old+"-- eg/eg.go --\npackage eg\n\n"+job.eg)
				cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
				cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=", "GOWORK=off")
				if out, err := cmd.CombinedOutput(); err != nil && args[0] != "go" {
					t.Fatalf("%s: %v\n%s", by, err, out)
				} else if err != nil {
					t.Skipf("NOT TESTED: %s: %v\n%s", by, err, out)
				}
				after, err := afero.ReadFile(root, "a.go")
				if err != nil {
					t.Fatal(err)
				}
				if same := string(after) == head+job.want; same != (expected == theSame) {
					t.Errorf("%s makes %q, want %s", by, after, expected)
				}
			}
			made("gofmt -r", job.byGofmt, "gofmt", "-r", job.gofmt, "-w", "a.go")
			if os.Getenv("MILLRACE_SAMPLES") == "full" {
				made("eg", job.byEg, "go", "run", egVersion, "-t", "eg/eg.go", "-w", "example.com/m")
			}
		})
	}
}
