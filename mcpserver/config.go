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

// DefaultMaxResult is the maximum length of each part of an answer, in bytes. Hosts cut or drop longer answers.
const DefaultMaxResult = 40_000

// minMaxResult is the smallest limit at which an answer can still report the omitted parts.
const minMaxResult = 1_000

// configFile is the file in which the command line finds the permissions for a tree.
const configFile = ".millrace.yaml"

// versionControl returns the directories of version control systems. Actions never write to them. A model must not read
// them either, because addresses in them can contain passwords.
func versionControl() []string {
	return []string{".git", ".hg", ".svn", ".jj", ".bzr", ".sl", ".pijul", ".repo", "_darcs"}
}

// hostFiles returns files that hosts, editors, shells and git execute or read their permissions from. A program that
// writes them decides what runs on this machine next time.
func hostFiles() []string {
	return []string{
		".mcp.json", ".cursor", ".vscode", ".claude", ".codex", ".gemini", ".zed", ".idea", ".envrc", ".husky",
		".githooks",
	}
}

// Config describes what a server serves and what it allows.
type Config struct {
	// FS is the tree. Set either FS or Root. [fsutil.RootFs.WithAbsolute] makes a file system that accepts absolute names.
	FS afero.Fs
	// Root is the directory of the system that is the tree. The server opens it with fsutil.OpenRoot, accepts absolute
	// names inside it, and closes it with [Server.Close].
	Root string
	// Executor is the policy for every call. Its Observe is called in addition to the server's own. In addition to its
	// DeniedPaths, files called ".millrace.yaml" and directories of version control systems are denied.
	Executor millrace.Executor
	// Decoder reads the pipelines of calls. The server sets its Tools to the Executor's Tools and makes it Lenient,
	// because models write the pipelines. An answer has a warning for each repair. The zero Decoder has the built-in
	// actions.
	Decoder millrace.Decoder
	// Runs are the commands over durable runs: those that are set become the tools browse_pipelines, manage_pipeline and
	// manage_pipeline_job. Manage must run them with the Policy of this configuration. With Aliases, the Library finds
	// pipelines by name. A ref of manage_pipeline is also a name of this Library. The zero Tools have no commands.
	Runs runs.Tools
	// Project is the key of the tree among the projects of Runs. Calls may also use ".", the Root or its last element, and
	// nothing else. Empty means ".".
	Project string
	// ReadOnly omits the tools that write. batch_operations is then always a dry run.
	ReadOnly bool
	// AllowForce accepts the "force" of a pipeline. Without it, "force" is ignored, and the server asks the person at the
	// client about a change that limits or risk block, if the client supports that. Executor.Ceiling applies in either
	// case.
	AllowForce bool
	// RequireHash refuses edits of existing files with fs_write without the content_hash or range_hash that fs_read
	// showed. Without it, the hash is optional.
	RequireHash bool
	// HostFiles lets calls change files that hosts and tools execute or read their permissions from, such as .mcp.json,
	// .vscode and .envrc. Without it, these files are added to the ReadOnlyPaths of the Executor.
	HostFiles bool
	// Aliases adds the tools pipeline and mcp_pipeline, the names that other servers use for running a pipeline.
	Aliases bool
	// MaxResult is the maximum length of each part of an answer, in bytes. Zero means DefaultMaxResult; less than 1,000 is
	// an error.
	MaxResult int
	// Logger logs events for operators. Nil logs nothing.
	Logger *slog.Logger
}

// projects returns the names by which calls may refer to the tree.
func (c Config) projects() []string {
	names := []string{c.Project}
	if c.Root != "" {
		if root, err := filepath.Abs(c.Root); err == nil {
			names = append(names, root, filepath.Base(root))
		}
	}
	return append(names, ".")
}

// open checks the configuration, sets its defaults, and opens the tree. The returned function closes the tree.
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
	c.Executor = c.Policy()
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

// Policy returns the Executor with the rules that the server adds: for each call, and for the manager of Runs. The host
// makes that manager, and the server cannot add rules to it.
func (c Config) Policy() millrace.Executor {
	x := c.Executor
	// The command line reads permissions from this file: whoever writes it could allow anything.
	x.DeniedPaths = append(append(slices.Clone(x.DeniedPaths), configFile), versionControl()...)
	if !c.HostFiles {
		x.ReadOnlyPaths = append(slices.Clone(x.ReadOnlyPaths), hostFiles()...)
	}
	x.ReadOnly = x.ReadOnly || c.ReadOnly
	return x
}

// check returns an error for a field of the Executor with which every call would fail, such as an invalid glob. The
// calls report other errors of the tree.
func (c *Config) check() error {
	_, err := c.Executor.Inspect(context.Background(), c.FS)
	if host, ok := errors.AsType[*millrace.ExecutorError](err); ok {
		return fmt.Errorf("mcpserver: %w", host)
	}
	return nil
}

// runnable returns the decoder without the actions that this server cannot run: commands, agents and host tools if the
// host provides none.
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
