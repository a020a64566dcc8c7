package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/panics"
	"github.com/millrace-go/millrace/internal/sandbox"
	"github.com/millrace-go/millrace/internal/show"
)

// Permit returns the reason why a command may not run: a *[DeniedError] if the host does not allow it, or an error of
// the policy. nil means that it may run. The words, Shell and Env of the command count; Check receives the whole
// command with its environment. A file of the tree need not exist yet.
func (p Policy) Permit(ctx context.Context, c Command) error {
	if _, err := p.allowed(c); err != nil {
		return err
	}
	env, err := p.environment(ctx, c)
	if err != nil {
		return err
	}
	return p.check(ctx, c, env)
}

// Supported returns a *[DeniedError] if this system lacks the sandbox that the policy requires; its hint names the
// settings to change. It returns nil if the system has the sandbox, if the policy does not require it, and if there is
// a Runner.
func (p Policy) Supported() error {
	if denied := p.unsupported("they have"); denied != nil {
		return denied
	}
	return nil
}

// unsupported is Supported for a message whose subject is given with its verb.
func (p Policy) unsupported(subject string) *DeniedError {
	if p.Sandbox != Required || p.Runner != nil {
		return nil
	}
	status, err := sandbox.Supported()
	if status.Files != "" && (status.Network != "" || p.Network) {
		return nil
	}
	return &DeniedError{
		Reason: subject + " to run in a sandbox, but no sandbox is available: " + cmp.Or(err, errors.New("unknown")).Error(),
		Hint: "the host sets Sandbox to BestEffort, which lets commands run with what protection there is, or a Runner, " +
			"which confines them in another way",
	}
}

// allowed is Permit without Check. It returns the file of the program, "" if the file is looked up later, where the
// command runs.
func (p Policy) allowed(c Command) (string, error) {
	if err := p.Valid(); err != nil {
		return "", err
	}
	if len(c.Words) == 0 || c.Words[0] == "" {
		return "", errors.New("a command needs a program")
	}
	if i := slices.IndexFunc(c.Words, func(w string) bool { return strings.ContainsRune(w, 0) }); i >= 0 {
		return "", fmt.Errorf("word %d of the command '%s' has a NUL byte", i, p.shown(c.Words[:1]))
	}
	program, err := p.listed(c)
	if err != nil {
		return "", err
	}
	for _, name := range slices.Sorted(maps.Keys(c.Env)) {
		if err := p.settable(c, name, c.Env[name]); err != nil {
			return "", err
		}
	}
	if denied := p.unsupported("it has"); denied != nil {
		denied.Command = p.shown(c.Words[:1])
		return "", denied
	}
	return program, nil
}

// listed checks the words of a command against Allow and Shell, and looks up the program.
func (p Policy) listed(c Command) (string, error) {
	if c.Shell {
		if len(c.Words) != 3 || c.Words[0] != "/bin/sh" || c.Words[1] != "-c" {
			return "", errors.New("a script is run by the words /bin/sh, -c and the script")
		}
		if !p.Shell {
			return "", &DeniedError{Command: "/bin/sh", Reason: "it allows no shells",
				Hint: "the host sets Shell, which lets a pipeline run everything; or give a program as command, and its arguments"}
		}
		return c.Words[0], nil
	}
	patterns, err := p.patterns()
	if err != nil {
		return "", err
	}
	words := slices.Clone(c.Words)
	if err := spelled(words[0]); err != nil {
		return "", &DeniedError{Command: p.shown(words[:1]), Reason: err.Error()}
	}
	program, line := matchAny(patterns, words)
	if !line && p.Runner == nil && filepath.IsAbs(words[0]) {
		// A program that is found by name may also be written with its path.
		if name := named(words[0]); p.find(name) == words[0] {
			words[0] = name
			byName, ok := matchAny(patterns, words)
			program, line = program || byName, ok
		}
	}
	switch {
	case !program:
		return "", &DeniedError{Command: p.shown(words[:1]), Hint: p.offer()}
	case !line:
		return "", &DeniedError{Command: p.shown(words), Reason: "not with these arguments", Hint: p.offer()}
	case p.Runner != nil, strings.HasPrefix(filepath.ToSlash(words[0]), "./"):
		return "", nil
	case filepath.IsAbs(words[0]):
		return words[0], nil
	}
	file := p.find(words[0])
	if file == "" {
		return "", &DeniedError{Command: p.shown(words[:1]), Reason: noProgram,
			Hint: "install it on the host, or set PATH in the Env of the policy"}
	}
	return file, nil
}

// named returns the name for calling a program with this path.
func named(file string) string {
	name := filepath.Base(file)
	if runtime.GOOS == "windows" {
		name = strings.TrimSuffix(name, filepath.Ext(name))
	}
	return name
}

// find returns the absolute path of a program, "" if the policy's PATH has none of that name.
func (p Policy) find(name string) string {
	for _, dir := range filepath.SplitList(p.path()) {
		if file, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return file
		}
	}
	return ""
}

// inTree returns the absolute path of a program ./x of the tree. A link must not lead out of the tree, because the
// program would then differ.
func inTree(root, name string) (string, error) {
	if root == "" {
		return "", fmt.Errorf("the program '%s' is a file of a tree, and there is none", name)
	}
	file := filepath.Join(root, filepath.FromSlash(path.Clean(filepath.ToSlash(name))))
	real, err := filepath.EvalSymlinks(file)
	if err != nil {
		return "", fmt.Errorf("the program '%s' of the tree cannot be run: %w", name, bare(err))
	}
	if !within(root, real) {
		return "", &DeniedError{Command: name, Reason: "it is a link that leads out of the tree"}
	}
	return file, nil
}

// bare returns an error without the path, which differs from run to run.
func bare(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// within reports whether a file without links in its path is in a directory.
func within(root, file string) bool {
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		return false
	}
	rel, err := filepath.Rel(real, file)
	return err == nil && filepath.IsLocal(rel)
}

// settable returns the reason why a step may not set a variable.
func (p Policy) settable(c Command, name, value string) error {
	program := p.shown(c.Words[:1])
	if bad := cmp.Or(badName(name), badValue(value)); bad != "" {
		return fmt.Errorf("the environment variable '%s' of the command '%s': %s", name, program, bad)
	}
	denied := &DeniedError{Command: program,
		Reason: fmt.Sprintf("a step may not set the environment variable '%s'", name)}
	if why := reserved(name); why != "" {
		denied.Reason += ", for " + why
		denied.Hint = "leave it out; the host may set it in the Env of the policy"
		if strings.HasPrefix(sameCase(name), "MILLRACE_") {
			denied.Hint = "leave it out"
		}
		return denied
	}
	if slices.ContainsFunc(p.StepEnv, func(n string) bool { return sameCase(n) == sameCase(name) }) {
		return nil
	}
	denied.Hint = fmt.Sprintf("the host adds '%s' to StepEnv, or sets it in Env", name)
	return denied
}

// check calls the host's Check.
func (p Policy) check(ctx context.Context, c Command, env environment) error {
	if p.Check == nil {
		return nil
	}
	err := panics.Protect(func() error { return p.Check(ctx, p.complete(c, env)) })
	if err == nil {
		return nil
	}
	if ended := ctx.Err(); ended != nil && errors.Is(err, ended) {
		return ended
	}
	denied := &DeniedError{Command: p.shown(c.Words), Reason: p.Mask(err.Error())}
	if denied.Reason == err.Error() {
		denied.Err = err // an error without a secret
	}
	return denied
}

// complete returns a command in the form for Check and a Runner: complete, in copies.
func (p Policy) complete(c Command, env environment) Command {
	c.Words = slices.Clone(c.Words)
	c.Env = maps.Clone(env)
	c.Read, c.Write, c.Network = slices.Clone(p.Read), slices.Clone(p.Write), p.Network
	c.MaxOutput = p.keep(c)
	return c
}

// keep returns the number of bytes kept of each stream.
func (p Policy) keep(c Command) int64 {
	most := cmp.Or(p.MaxOutput, defaultMaxOutput)
	if c.MaxOutput <= 0 {
		return min(defaultMaxOutput, most)
	}
	return min(c.MaxOutput, most)
}

// maxShown is the number of bytes of a command in a message.
const maxShown = 200

// shown returns a command line for messages.
func (p Policy) shown(words []string) string {
	text := strings.ToValidUTF8(p.Mask(Pattern(words...)), "\uFFFD")
	if len(words) == 1 {
		text = strings.ToValidUTF8(p.Mask(words[0]), "\uFFFD")
	}
	return show.Short(text, maxShown)
}

// offer returns a text with the commands that the host allows.
func (p Policy) offer() string {
	if len(p.Allow) == 0 {
		return "the host allows no programs: it names them in the Allow of its policy"
	}
	return "the host allows: " + p.Mask(names.Few(p.Allow, " | "))
}
