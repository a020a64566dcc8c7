package main_test

import (
	"io"
	"os"
	"strings"
	"testing"
)

// usedTree makes a tree with files, a pipeline, a patch and a plan, so that each command can work.
func usedTree(t *testing.T) *tree {
	t.Helper()
	tr := newTree(t, map[string]string{
		"a.txt":  "one\n",
		"p.json": `{"name": "p", "steps": [{"id": "s", "action": "edit", "params": {"files": ["a.txt"], "old_text": "one", "new_text": "two"}}]}`,
		"a.diff": "--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-one\n+two\n",
	})
	tr.must("plan", "p.json", "-o", "stored.plan")
	return tr
}

// everyCommand returns lists of arguments for each command name. TestSilentStdin compares the names with the program's.
func everyCommand() map[string][][]string {
	return map[string][][]string{
		"replace": {{"one", "two"}, {"one", "two", "a.txt"}, {"one", "two", "-n"}}, "sed": {{"s/one/two/", "*.txt"}}, "mv": {{"a.txt", "b.txt"}},
		"cp": {{"a.txt", "b.txt"}}, "rm": {{"a.txt"}}, "patch": {{"a.diff"}}, "do": {{"edit", "files=a.txt", "old_text=one", "new_text=two"}},
		"run": {{"p.json", "-n"}}, "plan": {{"p.json"}, {"p.json", "-o", "p.plan"}}, "show": {{"stored.plan"}}, "apply": {{"stored.plan"}},
		"review": {{"stored.plan"}}, "log": {{}, {"prune"}}, "undo": {{}, {"--last"}, {"x"}}, "redo": {{}},
		"status": {{}}, "recover": {{}, {"-n"}, {"--discard", "x"}}, "validate": {{"p.json"}}, "fmt": {{"p.json"}, {"--check", "p.json"}},
		"convert": {{"p.json"}}, "actions": {{}, {"edit"}}, "schema": {{}}, "completion": {{"bash"}}, "version": {{}},
		"search": {{"one"}, {"-s", "one :[a]"}}, "trust": {{"list"}, {"rm", "x"}}, "pipelines": {{}, {"p"}}, "init": {{}, {"licence"}},
		"runs": {{}, {"show", "1"}, {"log", "-"}, {"approve", "1"}, {"resume", "1"}, {"prune", "--keep", "1"}, {"watch", "1"}}, "exec": {{"cat"}, {"-y", "--shell", "cat"}},
		"fleet": {{}, {"run", "p.json", "."}, {"run", "p.json", ".", "-n"}, {"status", "-"}, {"diff", "-"}, {"retry", "-"}, {"undo", "-"}, {"report", "-"}},
		"help":  {{}, {"run"}, {"exit-codes"}, {"config"}, {"nothing"}},
		"mcp":   nil,                                                  // reads its client's requests
		"serve": {{"--addr", "192.0.2.1:0"}, {"--plan", "none.plan"}}, // without these flags it waits for the browser
	}
}

// No command waits for a stdin that stays open and empty, as in CI, unless an argument names stdin.
func TestSilentStdin(t *testing.T) {
	t.Parallel()
	uses := everyCommand()
	tr := usedTree(t)
	_, list, _ := tr.run("__complete", "")
	known := 0
	for line := range strings.Lines(list) {
		name, _, described := strings.Cut(line, "\t")
		if !described || strings.HasPrefix(name, ":") {
			continue
		}
		known++
		if _, ok := uses[name]; !ok {
			t.Errorf("everyCommand lacks the command %q", name)
		}
	}
	if known < 20 {
		t.Errorf("only %d commands are known:\n%s", known, list)
	}
	for name, variants := range uses {
		for _, args := range variants {
			args := append([]string{name}, args...)
			t.Run(strings.Join(args, " "), func(t *testing.T) {
				t.Parallel()
				tr := usedTree(t)
				r, w, err := os.Pipe()
				if err != nil {
					t.Fatal(err)
				}
				defer r.Close()
				defer w.Close()
				cmd := tr.command(args...)
				cmd.Stdin, cmd.Stdout, cmd.Stderr = r, io.Discard, io.Discard
				if status := tr.status(cmd.Run()); status < 0 {
					t.Error("the program waited for its input, and was killed")
				}
			})
		}
	}
}
