package docs_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/command"
	"github.com/millrace-go/millrace/internal/backups"
	"github.com/millrace-go/millrace/internal/outcome"
	"github.com/millrace-go/millrace/internal/suite"
)

// section returns the text below a heading of a page, up to the next heading of that level.
func section(t *testing.T, file, heading string) string {
	t.Helper()
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(page), "\n## "+heading+"\n")
	if !ok {
		t.Fatalf("%s has no section %q", file, heading)
	}
	text, _, _ := strings.Cut(rest, "\n## ")
	return text
}

// firstCells returns the words in backquotes in the first cells of all table rows in a text.
func firstCells(text string) []string {
	var words []string
	for _, row := range regexp.MustCompile("(?m)^\\| (`[^|]+`) \\|").FindAllStringSubmatch(text, -1) {
		for _, word := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[1], -1) {
			words = append(words, word[1])
		}
	}
	return words
}

// sameWords reports words that only one list has, and words that the page has twice.
func sameWords(t *testing.T, page string, listed, want []string) {
	t.Helper()
	for i, word := range listed {
		if !slices.Contains(want, word) {
			t.Errorf("%s lists %s, which does not exist", page, word)
		}
		if slices.Contains(listed[:i], word) {
			t.Errorf("%s lists %s twice", page, word)
		}
	}
	for _, word := range want {
		if !slices.Contains(listed, word) {
			t.Errorf("%s does not list %s", page, word)
		}
	}
}

func fieldsOf(t reflect.Type, name func(reflect.StructField) string) []string {
	var names []string
	for i := range t.NumField() {
		if f := t.Field(i); f.IsExported() && name(f) != "-" {
			names = append(names, name(f))
		}
	}
	return names
}

func inJSON(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// TestDocsLimits checks that docs/limits.md is complete: a new field of Executor or Decoder needs a row.
func TestDocsLimits(t *testing.T) {
	inGo := func(f reflect.StructField) string { return f.Name }
	sameWords(t, "docs/limits.md", firstCells(section(t, "docs/limits.md", "Executor")), suite.ExecutorFields())
	sameWords(t, "docs/limits.md", firstCells(section(t, "docs/limits.md", "Decoder")), fieldsOf(reflect.TypeFor[millrace.Decoder](), inGo))
	sameWords(t, "docs/limits.md", firstCells(section(t, "docs/limits.md", "Commands")), fieldsOf(reflect.TypeFor[command.Policy](), inGo))
}

// TestDocsPolicy checks that docs/exec.md is complete: a new field of a host's policy for commands needs a row.
func TestDocsPolicy(t *testing.T) {
	inGo := func(f reflect.StructField) string { return f.Name }
	sameWords(t, "docs/exec.md", firstCells(section(t, "docs/exec.md", "The policy")), fieldsOf(reflect.TypeFor[command.Policy](), inGo))
}

// TestDocsDefaults compares the defaults in docs/limits.md with the constants. The tests of suite limits check numbers
// without a constant.
func TestDocsDefaults(t *testing.T) {
	mib := func(n int64) string { return strconv.FormatInt(n>>20, 10) + " MiB" }
	thousands := func(n int) string { return strconv.Itoa(n/1000) + fmt.Sprintf(",%03d", n%1000) }
	for field, want := range map[string]string{
		"MaxFiles":               strconv.Itoa(millrace.DefaultMaxFiles),
		"Limits.MaxFileBytes":    mib(actions.Limits{}.FileBytes()),
		"Limits.MaxMatches":      "1,000,000",
		"Limits.MaxOutputBytes":  mib(actions.Limits{}.OutputBytes()),
		"Limits.MaxShownBytes":   mib(outcome.DefaultShownBytes),
		"Limits.MaxStagedBytes":  mib(outcome.DefaultStagedBytes),
		"Limits.MaxPatternBytes": mib(1 << 20),
		"MaxJSONDepth":           "100",
		"MaxPlanBytes":           mib(millrace.DefaultMaxPlanBytes),
		"State.Dir":              "`" + millrace.DefaultStateDir + "`",
		"State.Backups":          "the newest " + strconv.Itoa(backups.DefaultKeep),
		"State.Results":          "the newest " + thousands(backups.DefaultKeepRuns),
		"State.Conflicts":        "the newest " + strconv.Itoa(backups.DefaultKeep),
		"MaxBytes":               mib(millrace.MaxPipelineBytes),
		"MaxDepth":               "100",
	} {
		page, err := os.ReadFile("docs/limits.md")
		if err != nil {
			t.Fatal(err)
		}
		row := regexp.MustCompile("(?m)^\\| `" + regexp.QuoteMeta(field) + "` \\| ([^|]+) \\|").FindSubmatch(page)
		if row == nil || string(row[1]) != want {
			t.Errorf("docs/limits.md: zero %s means %q, not %s", field, row, want)
		}
	}
	if millrace.DefaultLockWait != time.Minute {
		t.Error("docs/limits.md names another wait for a lock")
	}
}

// TestDocsProblems checks the table of codes in docs/json-errors.md: it has each constant of a code, and no other.
func TestDocsProblems(t *testing.T) {
	codes := make(map[string]bool)
	for _, dir := range []string{".", "actions", "internal/definition", "internal/interpolate", "internal/params"} {
		for name, value := range constants(t, dir) {
			if regexp.MustCompile(`^[cC]ode[A-Z]`).MatchString(name) {
				codes[value] = true
			}
		}
	}
	if len(codes) < 40 {
		t.Fatalf("only %d codes were found", len(codes))
	}
	sameWords(t, "docs/json-errors.md", firstCells(section(t, "docs/json-errors.md", "Problems")), slices.Sorted(maps.Keys(codes)))
}

// constants returns the strings among the constants of the package in a directory, without tests.
func constants(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := make(map[string]string)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), dir+"/"+e.Name(), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok {
				return true
			}
			for i, value := range spec.Values {
				if lit, ok := value.(*ast.BasicLit); ok && lit.Kind == token.STRING && i < len(spec.Names) {
					found[spec.Names[i].Name], _ = strconv.Unquote(lit.Value)
				}
			}
			return true
		})
	}
	return found
}

// TestDocsErrorCodes compares the codes with the table in docs/json-errors.md and with the doc comment of ErrorCode.
func TestDocsErrorCodes(t *testing.T) {
	codes, err := parser.ParseFile(token.NewFileSet(), "internal/errorform/codes.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var known []string
	ast.Inspect(codes, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			code, _ := strconv.Unquote(lit.Value)
			known = append(known, code)
		}
		return true
	})
	sameWords(t, "docs/json-errors.md", firstCells(section(t, "docs/json-errors.md", "Codes of errors")), known)
	file, err := parser.ParseFile(token.NewFileSet(), "errors.go", nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, decl := range file.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok || fn.Name.Name != "ErrorCode" {
			continue
		}
		var documented []string
		for _, m := range regexp.MustCompile(`(?m)^ +- (\w+): `).FindAllStringSubmatch(fn.Doc.Text(), -1) {
			documented = append(documented, m[1])
		}
		sameWords(t, "the doc comment of ErrorCode", documented, known)
		return
	}
	t.Fatal("ErrorCode was not found")
}

// TestDocsResult checks that the tables of results in docs/json-results.md are complete.
func TestDocsResult(t *testing.T) {
	ofRun, ofStep, ok := strings.Cut(section(t, "docs/json-results.md", "The result"), "A step's result:")
	if !ok {
		t.Fatal("docs/json-results.md has no table of a step's result")
	}
	sameWords(t, "docs/json-results.md, of a result,", firstCells(ofRun), append(fieldsOf(reflect.TypeFor[millrace.Result](), inJSON), "total_duration"))
	sameWords(t, "docs/json-results.md, of a step's result,", firstCells(ofStep), append(fieldsOf(reflect.TypeFor[millrace.StepResult](), inJSON), "duration"))
	for _, name := range slices.Concat(fieldsOf(reflect.TypeFor[actions.FileReport](), inJSON), fieldsOf(reflect.TypeFor[actions.FailedEdit](), inJSON)) {
		if !strings.Contains(ofStep, "`"+name+"`") {
			t.Errorf("docs/json-results.md does not describe %s in the files of a step's result", name)
		}
	}
}

// TestDocsPlan checks that the page has every name in the JSON of a plan with changes of each kind.
func TestDocsPlan(t *testing.T) {
	fsys := afero.NewMemMapFs()
	for _, name := range []string{"edited", "moved", "over", "gone"} {
		if err := afero.WriteFile(fsys, name, []byte("text\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p := millrace.New("kinds").
		Step("edit", actions.Edit{Files: []string{"edited"}, OldText: "text", NewText: "new"}).
		Step("create", actions.Create{Path: "made", Content: "x"}).
		Step("move", actions.Rename{Files: []string{"moved"}, To: "over", Overwrite: true}).
		Step("delete", actions.Delete{Files: []string{"gone"}, Permanent: true}).
		MustBuild()
	plan, err := millrace.Executor{}.Plan(t.Context(), fsys, p)
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	var stored map[string]any
	if err := json.Unmarshal(data, &stored); err != nil {
		t.Fatal(err)
	}
	delete(stored, "result") // it has a section of its own
	text := section(t, "docs/json-results.md", "The stored plan")
	missing := make(map[string]bool)
	var look func(v any)
	look = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for name, value := range v {
				if !strings.Contains(text, "`"+name+"`") {
					missing[name] = true
				}
				look(value)
			}
		case []any:
			for _, value := range v {
				look(value)
			}
		}
	}
	look(stored)
	if len(missing) > 0 || !strings.Contains(text, "`result`") {
		t.Errorf("docs/json-results.md does not describe these keys of a stored plan: %v", slices.Sorted(maps.Keys(missing)))
	}
}

// TestDocsLinks follows every link from one page to another, or to a file or a heading.
func TestDocsLinks(t *testing.T) {
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	decisions, err := filepath.Glob("docs/decisions/*.md")
	if err != nil {
		t.Fatal(err)
	}
	links := 0
	for _, page := range append(append(pages, decisions...), "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, link := range regexp.MustCompile(`\]\(([^)\s]+)\)`).FindAllStringSubmatch(string(text), -1) {
			if strings.Contains(link[1], "://") {
				continue
			}
			links++
			name, heading, _ := strings.Cut(link[1], "#")
			target := page
			if name != "" {
				target = filepath.Join(filepath.Dir(page), name)
			}
			data, err := os.ReadFile(target)
			if _, dir := os.ReadDir(target); err != nil && dir != nil {
				t.Errorf("%s links to %s, which does not exist", page, link[1])
			}
			if heading != "" && !slices.Contains(anchors(string(data)), heading) {
				t.Errorf("%s links to %s, but %s has no such heading", page, link[1], target)
			}
		}
	}
	if links < 20 {
		t.Errorf("only %d links were found", links)
	}
}

// anchors returns the names of a page's headings in links.
func anchors(page string) []string {
	var names []string
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(page, -1) {
		plain := regexp.MustCompile(`[^\w\- ]`).ReplaceAllString(strings.ToLower(heading[1]), "")
		names = append(names, strings.ReplaceAll(plain, " ", "-"))
	}
	return names
}
