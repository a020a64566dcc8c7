package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/backup"
	"github.com/millrace-go/millrace/cmd/millrace/internal/config"
	"github.com/millrace-go/millrace/risk"
)

// load reads both files; an empty text omits a file.
func load(t interface {
	Helper()
	Fatal(...any)
}, user, project string) (config.Config, error) {
	t.Helper()
	dir, err := os.MkdirTemp("", "config")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if user != "" {
		if err := os.WriteFile(filepath.Join(dir, config.UserFile), []byte(user), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tree := afero.NewMemMapFs()
	if project != "" {
		if err := afero.WriteFile(tree, config.ProjectFile, []byte(project), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c, err := config.Load(dir, tree)
	if err != nil {
		_, file, _ := strings.Cut(err.Error(), dir+string(filepath.Separator))
		if file != "" && strings.HasPrefix(err.Error(), dir) {
			return c, &short{file, err}
		}
	}
	return c, err
}

// short is an error without the name of the test's directory.
type short struct {
	text string
	err  error
}

func (s *short) Error() string { return s.text }
func (s *short) Unwrap() error { return s.err }

func TestLoad(t *testing.T) {
	t.Parallel()
	got, err := load(t, `# mine
pager: ""
editor: code --wait
color: never
ceiling: HIGH
max_files: 500
allow: [src, "docs/"]
deny: [.env, "**/*.key"]
read_only:
  - go.sum
confirm: medium
backups: {keep: 5, max_age: 30d, max_bytes: 1000000}
runs: {store: ~/runs}
risk: {high: {files: 200, edits: 5000}, critical: {files: 400}}
`, "ceiling: low\nmax_files: 3\nallow: [./src/app]\ndeny: [.git*]\nread_only: [go.mod]\n")
	if err != nil {
		t.Fatal(err)
	}
	want := config.Config{
		Limits: config.Limits{
			Ceiling: risk.High, MaxFiles: 500, Allow: []string{"src", "docs"},
			Deny: []string{".env", "**/*.key"}, ReadOnly: []string{"go.sum"},
		},
		Project: config.Limits{
			Ceiling: risk.Low, MaxFiles: 3, Allow: []string{"src/app"}, Deny: []string{".git*"}, ReadOnly: []string{"go.mod"},
		},
		PagerSet: true, Editor: "code --wait", Color: "never", Confirm: risk.Medium, RunsStore: "~/runs",
		Backups: backup.Retention{Keep: 5, MaxAge: 30 * 24 * time.Hour, MaxBytes: 1000000},
		Risk:    risk.Policy{High: risk.Threshold{Files: 200, Edits: 5000}, Critical: risk.Threshold{Files: 400}},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(config.Config{})); diff != "" {
		t.Error(diff)
	}
}

func TestLoad_nothing(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "# only a comment\n", "---\n", "{}\n"} {
		got, err := load(t, text, text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if diff := cmp.Diff(config.Config{}, got, cmpopts.IgnoreUnexported(config.Config{})); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
	if _, err := config.Load("", nil); err != nil {
		t.Error(err)
	}
}

func TestLoad_wrong(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ user, project, want string }{
		"unknown":            {user: "color: auto\npagr: less\n", want: `config.yaml:2:1: unknown key "pagr": did you mean "pager"?`},
		"unknown, far":       {user: "telemetry: true\n", want: "config.yaml:1:1: unknown key \"telemetry\": `millrace help config` lists all keys"},
		"unknown in project": {project: "denny: [a]\n", want: `.millrace.yaml:1:1: unknown key "denny": did you mean "deny"?`},
		"twice":              {user: "color: auto\ncolor: never\n", want: `config.yaml:2:1: the key "color" stands here twice`},
		"pager of a project": {project: "deny: [a]\npager: sh -c evil\n", want: `.millrace.yaml:2:1: "pager" cannot stand in a project's file: ` +
			`a project's file comes with its files and can only forbid: ceiling, max_files, allow, deny, read_only`},
		"both files": {user: "ceiling: none\n", project: "max_files: 0\n", want: "config.yaml:1:10: this must be one of low, medium, high, critical\n" +
			".millrace.yaml:1:12: this must be a number from 1 to 2147483647"},
		"unset":           {user: "ceiling: unset\n", want: "config.yaml:1:10: this must be one of low, medium, high, critical"},
		"a color":         {user: "color: blue\n", want: "config.yaml:1:8: this must be one of auto, always, never"},
		"no text":         {user: "pager: true\n", want: "config.yaml:1:8: this must be a text: write it in quotes"},
		"null":            {user: "pager: ~\n", want: "config.yaml:1:8: this must be a text: write it in quotes"},
		"two lines":       {user: "pager: \"a\\nb\"\n", want: "config.yaml:1:8: this must be one line"},
		"runs":            {user: "runs: kept\n", want: "config.yaml:1:7: this must be a list of `key: value`: write {store: ~/.local/state/millrace/runs}"},
		"runs, unknown":   {user: "runs: {dir: /a}\n", want: "config.yaml:1:8: unknown key \"dir\" of runs: the only key is store"},
		"runs, relative":  {user: "runs: {store: a}\n", want: "config.yaml:1:15: this must be an absolute path, or begin with ~/: write {store: ~/.local/state/millrace/runs}"},
		"octal":           {user: "max_files: 010\n", want: "config.yaml:1:12: this must be a number from 1 to 2147483647"},
		"text for number": {user: "max_files: \"10\"\n", want: "config.yaml:1:12: this must be a number from 1 to 2147483647"},
		"no list":         {project: "allow: src\n", want: ".millrace.yaml:1:8: this must be a list of at least one text: write [first, second]"},
		"empty list":      {project: "allow: []\n", want: ".millrace.yaml:1:8: this must be a list of at least one text: write [first, second]"},
		"empty text":      {project: "deny: [a, \"\"]\n", want: ".millrace.yaml:1:11: this text is empty"},
		"outside":         {project: "allow: [../x]\n", want: `.millrace.yaml:1:8: the path "../x": it leads out of the tree: write a path that counts from the root`},
		"absolute":        {user: "allow: [/etc]\n", want: `config.yaml:1:8: the path "/etc": it leads out of the tree: write a path that counts from the root`},
		"age":             {user: "backups: {max_age: 3 days}\n", want: "config.yaml:1:20: this must be how old a backup may be: write 30d, 12h or 90m"},
		"level of risk":   {user: "risk: {hihg: {files: 3}}\n", want: "config.yaml:1:8: unknown level \"hihg\" of risk: did you mean \"high\"? The names are medium, high, critical"},
		"measure of risk": {user: "risk: {high: {lines: 3}}\n", want: "config.yaml:1:15: unknown measure \"lines\" of a level: did you mean \"files\"? The names are files, edits"},
		"number of risk":  {user: "risk: {high: 3}\n", want: "config.yaml:1:14: this must be a list of `key: value`: write {files: 200, edits: 5000}"},
		"project's risk": {project: "risk: {high: {files: 1000}}\n", want: `.millrace.yaml:1:1: "risk" cannot stand in a project's file: ` +
			`a project's file comes with its files and can only forbid: ceiling, max_files, allow, deny, read_only`},
		"backups":         {user: "backups: 3\n", want: "config.yaml:1:10: this must be a list of `key: value`: write {keep: 20}"},
		"key of backups":  {user: "backups: {kep: 3}\n", want: "config.yaml:1:11: unknown key \"kep\" of backups: did you mean \"keep\"? The names are keep, max_age, max_bytes"},
		"anchor":          {user: "deny: &a [x]\nread_only: *a\n", want: "config.yaml:1:7: anchors and aliases are not taken: write the value where it is meant"},
		"merge":           {user: "<<: {color: auto}\n", want: "config.yaml:1:1: merge keys are not taken: write the keys where they are meant"},
		"tag":             {user: "color: !!str auto\n", want: "config.yaml:1:8: tags are not taken: leave it out"},
		"documents":       {user: "color: auto\n---\ncolor: never\n", want: "config.yaml:2:1: there is a second document"},
		"list":            {user: "- color\n", want: "config.yaml:1:1: a configuration is a list of `key: value`"},
		"scalar":          {user: "color\n", want: "config.yaml:1:1: a configuration is a list of `key: value`"},
		"number as a key": {user: "1: x\n", want: "config.yaml:1:1: a key is a word"},
		"escapes":         {project: "\"\\e[2J\": x\n", want: ".millrace.yaml:1:1: unknown key \"\\x1b[2J\": `millrace help config` lists all keys"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := load(t, c.user, c.project)
			if err == nil {
				t.Fatal("the file was accepted")
			}
			if got := err.Error(); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestLoad_noYAML(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"a: [\n", "a: 'x\n", "\xff\xfe\x00", "a: \x1b[2J\n", strings.Repeat("[", 20_000)} {
		_, err := load(t, "", text)
		if err == nil {
			t.Errorf("%.20q was accepted", text)
		} else if !strings.HasPrefix(err.Error(), config.ProjectFile+":") || strings.Contains(err.Error(), "\x1b") {
			t.Errorf("%.20q: %q", text, err)
		}
	}
}

// The help is correct: each example can be read.
func TestKeys(t *testing.T) {
	t.Parallel()
	for _, k := range config.Keys() {
		text := k.Name + ": " + k.Example + "\n"
		if _, err := load(t, text, ""); err != nil {
			t.Errorf("%s in the user's file: %v", text, err)
		}
		if _, err := load(t, "", text); (err == nil) != k.Project {
			t.Errorf("%s in a project's file: %v", text, err)
		}
	}
}
