package steering_test

import (
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/command"
	"github.com/millrace-go/millrace/internal/suite"
)

// The pipelines of docs/flow.md behave as the page describes below them.
func TestPictures(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/flow.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```json\n(.*?)```\n\n```text\n(.*?)```\n").FindAllStringSubmatch(string(page), -1)
	if len(blocks) != strings.Count(string(page), "```json\n") || len(blocks) < 5 {
		t.Fatalf("%d pipelines are followed by their runs, of %d", len(blocks), strings.Count(string(page), "```json\n"))
	}
	for _, block := range blocks {
		p, err := millrace.Decode([]byte(block[1]))
		if err != nil {
			t.Fatal(err)
		}
		t.Run(p.Name(), func(t *testing.T) {
			t.Parallel()
			if w := p.Warnings(); len(w) > 0 {
				t.Errorf("warnings: %v", w)
			}
			var before, after []string
			var said []string
			for line := range strings.Lines(block[2]) {
				file := regexp.MustCompile(`^(\S+): (".*?[^\\]")(?: becomes (".*")| (stays))?\n$`).FindStringSubmatch(line)
				if file == nil {
					said = append(said, strings.TrimSpace(line))
					continue
				}
				name, first, second := file[1], unquoted(t, file[2]), first(file[3], file[2])
				switch {
				case file[3] == "" && file[4] == "": // the run makes it
					after = append(after, name, first)
				default:
					before, after = append(before, name, first), append(after, name, unquoted(t, second))
				}
			}
			fsys, x := suite.Tree(before...), millrace.Executor{}
			if strings.Contains(block[1], `"exec"`) {
				if runtime.GOOS == "windows" {
					t.Skip("the commands of the page need Unix")
				}
				x.Commands = command.Policy{Allow: []string{"grep -q *"}, Sandbox: command.BestEffort, Scratch: t.TempDir()}
			}
			res, err := x.Run(t.Context(), fsys, p)
			if err == nil != strings.Contains(block[2], "\nOK: ") {
				t.Errorf("got %v", err)
			}
			got := []string{pictured(res), res.String()}
			for _, w := range res.Warnings {
				got = append(got, "warning: "+w)
			}
			if d := cmp.Diff(said, got); d != "" {
				t.Errorf("(-page +run):\n%s", d)
			}
			files := make([]string, 0, len(after))
			for i := 0; i < len(after); i += 2 {
				files = append(files, after[i], suite.Read(t, fsys, after[i]))
			}
			if d := cmp.Diff(after, files); d != "" {
				t.Errorf("the tree (-page +run):\n%s", d)
			}
			all, err := afero.ReadDir(fsys, ".")
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range all {
				if name := f.Name(); name != ".millrace" && !strings.Contains(strings.Join(after, "\n")+"\n", name+"\n") {
					t.Errorf("there is a file %s, which the page does not mention", name)
				}
			}
		})
	}
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func unquoted(t *testing.T, s string) string {
	t.Helper()
	text, err := strconv.Unquote(s)
	if err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	return text
}

// pictured returns a history as one line, as on the page.
func pictured(res *millrace.Result) string {
	var words []string
	for _, v := range res.History {
		word := map[string]string{"success": "✓"}[v.Outcome]
		word = v.StepID + " " + first(word, v.Outcome)
		if v.Jump != nil {
			word += " → " + v.Jump.To
		}
		if v.Discarded && res.Commit.State == millrace.CommitApplied && v.Outcome != "skipped" {
			word += " (taken back)"
		}
		words = append(words, word)
	}
	return strings.Join(words, " · ")
}
