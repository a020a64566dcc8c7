package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/user"
	"strings"

	"github.com/spf13/cobra"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/cmd/millrace/internal/byname"
	"github.com/millrace-go/millrace/cmd/millrace/internal/config"
	"github.com/millrace-go/millrace/cmd/millrace/internal/kept"
	"github.com/millrace-go/millrace/cmd/millrace/internal/registry"
	"github.com/millrace-go/millrace/command"
	"github.com/millrace-go/millrace/mcpserver"
	"github.com/millrace-go/millrace/rundir"
	"github.com/millrace-go/millrace/runs"
)

// tokenVariable is the environment variable for the token of the HTTP server.
const tokenVariable = "MILLRACE_MCP_TOKEN"

// minToken is the minimum length of a token, so that it cannot be guessed.
const minToken = 16

// mcpFlags are the flags of mcp only.
type mcpFlags struct {
	root                          string
	readOnly, allowForce, aliases bool
	hostFiles, requireHash        bool
	http, tokenFile, store        string
}

// newMCP makes `mcp`.
func (a *App) newMCP() *cobra.Command {
	var o mcpFlags
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve the tree to agents over the Model Context Protocol",
		Long: `Serve a directory to agents over the Model Context Protocol, on stdin and stdout, or with --http on a local port.
An agent can read, plan, review, apply and undo. It cannot leave the directory, nor exceed the limits of the
flags. The directory is --root, or the working directory; parent directories are not searched.`,
		Example: `  millrace mcp --root ~/src/project
  millrace mcp --read-only
  millrace mcp --ceiling high --deny '.env' --deny '*.key'
  millrace mcp --http 127.0.0.1:7345 --token-file ~/.config/millrace/token`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.http == "" && cmd.Flags().Changed("http") {
				return &usageError{errors.New("--http: an address is needed, such as 127.0.0.1:7345")}
			}
			return a.serveMCP(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.root, "root", "", "serve `DIR` and everything below it")
	f.BoolVar(&o.readOnly, "read-only", false, "offer no tools that write")
	f.BoolVar(&o.allowForce, "allow-force", false, "accept the force of a pipeline without asking a person")
	f.BoolVar(&o.hostFiles, "allow-host-files", false,
		"let agents change files that hosts and tools run or take their rights from, such as .mcp.json")
	f.BoolVar(&o.requireHash, "require-hash", false, "refuse edits of existing files without the hash from fs_read")
	f.BoolVar(&o.aliases, "aliases", false, "also offer the tools pipeline and mcp_pipeline")
	f.StringVar(&o.http, "http", "", "listen on `ADDR`, a loopback address such as 127.0.0.1:7345; the path is /mcp")
	f.StringVar(&o.tokenFile, "token-file", "", "read the bearer token of --http from `FILE`; by default from "+
		tokenVariable+", else a random token is printed")
	f.StringVar(&o.store, "store", "", "keep durable runs in `DIR`, and offer the tools to manage them; alone it is "+
		rundir.DefaultDir+" of the tree")
	f.Lookup("store").NoOptDefVal = rundir.DefaultDir
	a.policyFlags(cmd)
	denyFrom(cmd, "the root")
	a.allowExecFlag(cmd)
	a.commandFlags(cmd)
	return cmd
}

// serveMCP serves until the input ends or the process must stop.
func (a *App) serveMCP(ctx context.Context, o mcpFlags) (err error) {
	token, err := a.mcpToken(o)
	if err != nil {
		return err
	}
	if o.root != "" {
		if info, err := os.Stat(a.absolute(o.root)); err != nil || !info.IsDir() {
			return &usageError{fmt.Errorf("--root %s: not a directory", o.root)}
		}
		a.flags.dir = o.root
	} else if a.flags.dir == "" {
		a.flags.dir = "." // so that parent directories are not searched for the root
	}
	s, err := a.open()
	if err != nil {
		return err
	}
	defer s.fs.Close()
	if err := s.refuseConfig(); err != nil {
		return err
	}
	policy := allowing(a.flags.allowExec) // the user's configuration is for pipelines that the user runs
	if err := policy.Valid(); err != nil {
		return &usageError{fmt.Errorf("--allow-exec: %w", err)}
	}
	var programs []string
	for _, pattern := range a.flags.allowExec {
		programs = append(programs, strings.Fields(pattern)...)
	}
	done, err := s.withPrograms(policy, programs, false)
	if err != nil {
		return err
	}
	defer done()
	cfg := mcpserver.Config{
		Root: s.root, Executor: s.x, ReadOnly: o.readOnly, AllowForce: o.allowForce, HostFiles: o.hostFiles,
		Aliases: o.aliases, RequireHash: o.requireHash,
		Decoder: registry.Served(func(c command.Command) bool { return permits(ctx, policy, c) }),
	}
	if a.flags.verbose {
		cfg.Logger = slog.New(slog.NewTextHandler(a.Stderr, nil))
	}
	if o.store != "" {
		tools, closing, err := s.runTools(o, cfg.Policy())
		if err != nil {
			return err
		}
		// Active runs are held, so that another process can resume them.
		defer func() { err = errors.Join(err, closing(context.WithoutCancel(ctx))) }()
		cfg.Runs = tools
	}
	cfg.Runs.Library = byname.ForAgents(s.fs, config.UserDir())
	server, err := mcpserver.New(cfg)
	if err != nil {
		return &usageError{err}
	}
	defer server.Close()
	if o.http == "" {
		return server.Serve(ctx, a.Stdin, a.Stdout)
	}
	err = server.ServeHTTP(ctx, o.http, token, func(addr net.Addr) {
		a.complain(fmt.Sprintf("millrace: serving %s at http://%s/mcp", s.root, addr))
	})
	if errors.Is(err, mcpserver.ErrNotLoopback) {
		return &usageError{err}
	}
	return err
}

// mcpToken returns the token of the HTTP server: from the file, from the environment, or a new one, which is printed.
func (a *App) mcpToken(o mcpFlags) (string, error) {
	if o.http == "" {
		if o.tokenFile != "" {
			return "", &usageError{errors.New("--token-file is for --http")}
		}
		return "", nil
	}
	token, from := a.Getenv(tokenVariable), tokenVariable
	if o.tokenFile != "" {
		var err error
		if token, err = readToken(a.absolute(o.tokenFile)); err != nil {
			return "", &usageError{fmt.Errorf("--token-file: %w", err)}
		}
		from = "--token-file"
	}
	switch {
	case token == "" && from == tokenVariable:
		token = rand.Text()
		a.complain("millrace: the token is " + token)
	case len(token) < minToken || strings.ContainsAny(token, " \t\r\n"):
		return "", &usageError{fmt.Errorf("%s: a token has at least %d characters and no spaces", from, minToken)}
	}
	return token, nil
}

// runTools opens the store of runs, which have that policy.
func (s *session) runTools(o mcpFlags, policy millrace.Executor) (tools runs.Tools,
	closing func(context.Context) error, err error) {
	name := o.store
	if name == rundir.DefaultDir { // the flag without a value means the store that the command line uses
		name = ""
	}
	dir, err := s.runsDir(name)
	if err != nil {
		return tools, nil, err
	}
	store, closeStore, err := kept.Open(s.fs, dir, s.x)
	if err != nil {
		return tools, nil, err
	}
	closing = func(context.Context) error { return closeStore() }
	tools = runs.Tools{Browse: store, Source: runs.SourceMCP}
	if o.readOnly || s.x.ReadOnly {
		return tools, closing, nil
	}
	m, err := store.Manage(rundir.Host{
		Executor: managed(policy), Trees: kept.Tree(s.fs), User: userName(),
		Library: byname.ForAgents(s.fs, config.UserDir()),
	})
	if err != nil {
		return tools, nil, errors.Join(err, closeStore())
	}
	tools.Manage, tools.Jobs = m, m.Jobs()
	return tools, func(ctx context.Context) error { return errors.Join(m.Close(ctx), closeStore()) }, nil
}

// userName returns the name of the user of this process, "" if the system has none.
func userName() string {
	u, err := user.Current()
	if err != nil {
		return ""
	}
	return u.Username
}

// managed returns the policy for runs of the store, which have their own observers.
func managed(x millrace.Executor) millrace.Executor {
	x.Observe = nil
	return x
}
