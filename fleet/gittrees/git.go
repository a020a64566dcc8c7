package gittrees

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/command"
	"github.com/millrace-go/millrace/internal/show"
)

// mostOutput is how much of the output of a program is kept, in bytes. A longer list of names is an error.
const mostOutput = 64 << 20

// repository is a tree of git. Directory and git directory are absolute. An empty git directory lets git find it.
type repository struct {
	t        Trees
	dir, git string
}

// guarded returns the settings of every call. No hook runs, no files are watched, and no process stays in the
// background.
func guarded() []string {
	return []string{
		"-c", "core.hooksPath=" + os.DevNull, "-c", "core.fsmonitor=false", "-c", "gc.auto=0", "-c",
		"maintenance.auto=false", "-c", "submodule.recurse=false", "-c", "advice.detachedHead=false", "-c",
		"core.quotePath=false", "-c", "protocol.ext.allow=never", "--no-pager", "--literal-pathspecs",
	}
}

// run runs git with arguments, and returns its output.
func (r repository) run(ctx context.Context, input string, args ...string) (string, error) {
	exit, err := r.exit(ctx, input, args...)
	switch {
	case err != nil:
		return "", err
	case exit.Code != 0:
		return "", fmt.Errorf("git %s: %s", args[0], reason(exit))
	case exit.Stdout.Truncated:
		return "", fmt.Errorf("git %s: the output has %d bytes, more than %d", args[0], exit.Stdout.Size, mostOutput)
	}
	return exit.Stdout.Text, nil
}

// ask runs git with a question, and returns the answer without its line end. Status 0 means yes and status 1 means no.
// Any other end is an error: git could not find the answer.
func (r repository) ask(ctx context.Context, args ...string) (answer string, yes bool, err error) {
	exit, err := r.exit(ctx, "", args...)
	switch {
	case err != nil:
		return "", false, err
	case exit.Code != 0 && exit.Code != 1:
		return "", false, fmt.Errorf("git %s: %s", args[0], reason(exit))
	}
	return strings.TrimSpace(exit.Stdout.Text), exit.Code == 0, nil
}

// exit runs git with arguments. The status is not an error.
func (r repository) exit(ctx context.Context, input string, args ...string) (command.Exit, error) {
	words := append([]string{"git"}, guarded()...)
	if r.git != "" {
		words = append(words, "--git-dir="+r.git, "--work-tree="+r.dir)
	}
	words = append(words, args...)
	env := map[string]string{
		"GIT_TERMINAL_PROMPT": "0", "GIT_ALLOW_PROTOCOL": "https:ssh:http:git:file", "GIT_OPTIONAL_LOCKS": "0",
		"GIT_EDITOR": "false", "GIT_PAGER": "cat", "LC_ALL": "C",
	}
	if name, mail, ok := r.t.author(); ok {
		env["GIT_AUTHOR_NAME"], env["GIT_COMMITTER_NAME"] = name, name
		env["GIT_AUTHOR_EMAIL"], env["GIT_COMMITTER_EMAIL"] = mail, mail
	}
	policy := r.t.policy([]string{"git"}, env)
	policy.Allow = []string{"git *"}
	exit, err := policy.Run(ctx, command.Command{Words: words, Root: r.dir, Stdin: input})
	if err != nil {
		return exit, fmt.Errorf("git %s: %w", args[0], err)
	}
	return exit, nil
}

// author returns the two parts of Author.
func (t Trees) author() (name, mail string, ok bool) {
	parts := authorForm.FindStringSubmatch(t.Author)
	if parts == nil {
		return "", "", false
	}
	return parts[1], parts[2], true
}

// reason returns the reason why a program has failed: the error of git in its output, or the end of the output. Empty
// lines, as in the advice of git after a failed ls-remote, are left out.
func reason(exit command.Exit) string {
	text := strings.TrimSpace(exit.Stderr.Text)
	if text == "" {
		text = strings.TrimSpace(exit.Stdout.Text)
	}
	lines := slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool { return strings.TrimSpace(line) == "" })
	from := slices.IndexFunc(lines, func(line string) bool {
		return strings.HasPrefix(line, "fatal: ") || strings.HasPrefix(line, "error: ")
	})
	if from < 0 {
		from = max(0, len(lines)-3)
	}
	text = strings.Join(lines[from:min(len(lines), from+3)], "; ")
	switch {
	case exit.Signal != "":
		return strings.TrimSpace("it was ended by " + exit.Signal + "; " + text)
	case text == "":
		return fmt.Sprintf("status %d", exit.Code)
	}
	return show.Within(strings.ToValidUTF8(text, "\uFFFD"), 500)
}

// inherited are the variables of this process that git and Then get: all, except the variables that name another
// repository, and settings of one call.
func inherited() []string {
	local := map[string]bool{
		"GIT_ALTERNATE_OBJECT_DIRECTORIES": true, "GIT_CONFIG": true, "GIT_CONFIG_PARAMETERS": true,
		"GIT_CONFIG_COUNT": true, "GIT_OBJECT_DIRECTORY": true, "GIT_DIR": true, "GIT_WORK_TREE": true,
		"GIT_IMPLICIT_WORK_TREE": true, "GIT_GRAFT_FILE": true, "GIT_INDEX_FILE": true, "GIT_NO_REPLACE_OBJECTS": true,
		"GIT_REPLACE_REF_BASE": true, "GIT_PREFIX": true, "GIT_SHALLOW_FILE": true, "GIT_COMMON_DIR": true,
		"GIT_EXTERNAL_DIFF": true, "GIT_TEMPLATE_DIR": true, "GIT_NAMESPACE": true, "GIT_LITERAL_PATHSPECS": true,
		"GIT_QUARANTINE_PATH": true,
	}
	var names []string
	for _, entry := range os.Environ() {
		if name, _, ok := strings.Cut(entry, "="); ok && name != "" && name != "PATH" && !local[name] {
			names = append(names, name)
		}
	}
	return names
}

// then runs the program of Then in a tree.
func (r repository) then(ctx context.Context, target string) error {
	if r.t.Then == nil {
		return nil
	}
	branch, err := r.run(ctx, "", "rev-parse", "--abbrev-ref", "HEAD")
	if err != nil {
		return err
	}
	env := map[string]string{"MILLRACE_TARGET": target, "MILLRACE_BRANCH": strings.TrimSpace(branch)}
	exit, err := r.t.policy(r.t.Then, env).Run(ctx, command.Command{Words: r.t.Then, Root: r.dir})
	if err == nil && exit.Code != 0 {
		err = errors.New(reason(exit))
	}
	if err != nil {
		return fmt.Errorf("the commit is made, and the command after it has failed: %w", err)
	}
	return nil
}
