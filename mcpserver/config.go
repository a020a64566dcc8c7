package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/runs"
)

// DefaultMaxResult is how long each part of an answer may be, in bytes. Hosts cut longer answers, or leave them out.
const DefaultMaxResult = 40_000

// minMaxResult is the least that an answer can be cut to and still say what was left out.
const minMaxResult = 1_000

// configFile is the file of a tree in which the command line finds what is allowed there.
const configFile = ".millrace.yaml"

// versionControl are the directories of version control systems. Actions do not write to them in any case; a model does
// not read them either, for the addresses in them can have passwords.
func versionControl() []string {
	return []string{".git", ".hg", ".svn", ".jj", ".bzr", ".sl", ".pijul", ".repo", "_darcs"}
}

// hostFiles are files that hosts, editors, shells and git run, or take their rights from. A program that writes them
// decides what runs on this machine the next time.
func hostFiles() []string {
	return []string{
		".mcp.json", ".cursor", ".vscode", ".claude", ".codex", ".gemini", ".zed", ".idea", ".envrc", ".husky",
		".githooks",
	}
}

// Config is what a server serves, and what it allows.
type Config struct {
	// FS is the tree. One of FS and Root is given. A file system that takes absolute names is
	// [fsutil.RootFs.WithAbsolute].
	FS afero.Fs
	// Root is the directory of the system that is the tree. The server opens it with fsutil.OpenRoot, takes absolute
	// names that lie in it, and closes it with [Server.Close].
	Root string
	// Executor is the policy that every call is held to. Its Observe is called beside the server's own. Beside its
	// DeniedPaths, files called ".millrace.yaml" and directories of version control systems are denied.
	Executor millrace.Executor
	// Decoder reads the pipelines of calls. Its Tools are those of the Executor, and it is Lenient in any case: models
	// write what they send, and an answer has a warning for each repair. The zero Decoder knows the built-in actions.
	Decoder millrace.Decoder
	// Runs are the commands over durable runs: those that are there become the tools browse_pipelines, manage_pipeline
	// and manage_pipeline_job. With Aliases, the Library finds the pipelines that are called by their names. The zero
	// Tools have none.
	Runs runs.Tools
	// Project is the key of the tree among the projects of Runs. The calls may also say ".", the Root or its last
	// element for it, and nothing else. Empty means ".".
	Project string
	// ReadOnly omits the tools that write. batch_operations is always a dry run then.
	ReadOnly bool
	// AllowForce takes the "force" of a pipeline. Without it, "force" is ignored, and a change that limits or risk
	// block is put to the person at the client, if the client can ask one. Executor.Ceiling holds in either case.
	AllowForce bool
	// RequireHash refuses edits of fs_write to files that exist without the content_hash or range_hash that fs_read
	// has shown. Without it the hash is up to the call.
	RequireHash bool
	// HostFiles lets calls change the files that hosts and tools run or take their rights from, such as .mcp.json,
	// .vscode and .envrc. Without it they are among the ReadOnlyPaths of the Executor.
	HostFiles bool
	// Aliases adds the tools pipeline and mcp_pipeline, which other servers have for the same.
	Aliases bool
	// MaxResult is how long each part of an answer may be, in bytes. Zero means DefaultMaxResult; less than 1,000 is an
	// error.
	MaxResult int
	// Logger takes what happens, for operators. Nil means that nothing is logged.
	Logger *slog.Logger
}

// projects are the names that the tree is called by.
func (c Config) projects() []string {
	names := []string{c.Project}
	if c.Root != "" {
		if root, err := filepath.Abs(c.Root); err == nil {
			names = append(names, root, filepath.Base(root))
		}
	}
	return append(names, ".")
}

// open checks the configuration, fills in its defaults, and opens the tree. The returned function closes both.
func (c *Config) open() (closing func() error, err error) {
	switch {
	case c.FS == nil && c.Root == "":
		return nil, errors.New("mcpserver: one of FS and Root is needed")
	case c.FS != nil && c.Root != "":
		return nil, errors.New("mcpserver: FS and Root cannot both be given")
	case c.MaxResult != 0 && c.MaxResult < minMaxResult:
		return nil, fmt.Errorf("mcpserver: MaxResult of %d bytes is less than %d", c.MaxResult, minMaxResult)
	}
	if c.MaxResult == 0 {
		c.MaxResult = DefaultMaxResult
	}
	if c.Project == "" {
		c.Project = "."
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	c.Decoder.Actions = c.Decoder.Actions.OrBuiltin()
	if err := c.Decoder.Actions.Err(); err != nil {
		return nil, fmt.Errorf("mcpserver: Decoder.Actions: %w", err)
	}
	c.Decoder.Tools, c.Decoder.Lenient = c.Executor.Tools, true
	// This file has the host's permissions: a writer of it could allow anything.
	c.Executor.DeniedPaths = append(append(slices.Clone(c.Executor.DeniedPaths), configFile), versionControl()...)
	if !c.HostFiles {
		c.Executor.ReadOnlyPaths = append(slices.Clone(c.Executor.ReadOnlyPaths), hostFiles()...)
	}
	c.Executor.ReadOnly = c.Executor.ReadOnly || c.ReadOnly
	c.ReadOnly = c.Executor.ReadOnly
	if c.Root == "" {
		return func() error { return nil }, c.check()
	}
	root, err := fsutil.OpenRoot(c.Root)
	if err != nil {
		return nil, fmt.Errorf("mcpserver: %w", err)
	}
	c.FS = root.WithAbsolute()
	if err := c.check(); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return root.Close, nil
}

// check returns an error for a field of the Executor that no call could work with, such as a glob that is not valid.
// The calls report other errors of the tree.
func (c *Config) check() error {
	_, err := c.Executor.Inspect(context.Background(), c.FS)
	if host, ok := errors.AsType[*millrace.ExecutorError](err); ok {
		return fmt.Errorf("mcpserver: %w", host)
	}
	return nil
}

// runnable is the decoder without the actions that this server cannot run: commands, agents and tools of the host where
// the host gives none.
func runnable(c Config) millrace.Decoder {
	actionsLeft := actions.Registry{}.With() // none at first, and not Builtin
	for _, name := range c.Decoder.Actions.Names() {
		a, _ := c.Decoder.Actions.Lookup(name)
		can := true
		switch a.(type) {
		case actions.Exec:
			can = !reflect.ValueOf(c.Executor.Commands).IsZero()
		case actions.Prompt:
			can = len(c.Executor.Agents) > 0
		case actions.Tool:
			can = len(c.Executor.Tools.Names()) > 0
		}
		if can {
			actionsLeft = actionsLeft.With(a)
		}
	}
	d := c.Decoder
	d.Actions = actionsLeft
	return d
}
