package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/cmd/millrace/internal/door"
	"github.com/millrace-go/millrace/fsutil"
)

// trust is the directory with a file for each pipeline whose programs the user trusts, named by its digest; "" for
// none. A pipeline with one changed byte has another digest.
type trust string

// trustedPipeline is the content of such a file, for people.
type trustedPipeline struct {
	Name string    `json:"name"`
	File string    `json:"file"`
	Time time.Time `json:"time"`
}

// isDigest reports whether a name is that of a file of the directory: 64 lower-case hexadecimal digits.
func isDigest(name string) bool {
	return len(name) == 64 && strings.Trim(name, "0123456789abcdef") == ""
}

// trust returns the directory, below the user's state directory. A directory in the tree is not used, because a
// pipeline could write to it.
func (s *session) trust() trust {
	dir := trustDir()
	if dir == "" {
		return ""
	}
	for _, name := range []string{dir, realParent(dir)} {
		if inside, err := filepath.Rel(s.root, name); err != nil || filepath.IsLocal(inside) {
			return ""
		}
	}
	return trust(dir)
}

// stateDir returns millrace's directory in the user's state directory, "" if the system has no place for it.
func stateDir() string {
	state := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(state) {
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		state = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(state, "millrace")
}

// trustDir returns the directory of trust, "" if the system has no place for it.
func trustDir() string {
	dir := stateDir()
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "trust")
}

// has reports whether the pipeline with a digest is trusted.
func (t trust) has(digest string) bool {
	if t == "" || !isDigest(digest) {
		return false
	}
	info, err := os.Lstat(filepath.Join(string(t), digest))
	return err == nil && info.Mode().IsRegular()
}

// add trusts a pipeline.
func (t trust) add(p millrace.Pipeline, file string) error {
	text, err := json.Marshal(trustedPipeline{Name: p.Name(), File: file, Time: time.Now().UTC().Truncate(time.Second)})
	if err == nil {
		err = os.MkdirAll(string(t), 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(string(t), p.Digest()), append(text, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("the trust in this pipeline cannot be stored: %w", err)
	}
	return nil
}

// list returns the trusted digests, in order.
func (t trust) list() ([]string, error) {
	entries, err := os.ReadDir(string(t))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var digests []string
	for _, e := range entries {
		if isDigest(e.Name()) {
			digests = append(digests, e.Name())
		}
	}
	return digests, err
}

// newTrust makes `trust`.
func (a *App) newTrust() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "trust",
		Short: "List and forget the pipelines whose programs you trust",
		Long: `Trust manages the pipelines whose programs you have always allowed, by the answer "a" of run or
plan. A pipeline is identified by its digest, with the values of its variables: if a byte changes, you are asked
again. The digests are in the user's state directory, ~/.local/state/millrace/trust, and not in the tree.`,
		Example: `  millrace trust list
  millrace trust rm 4f2a`,
	}
	cmd.AddCommand(
		&cobra.Command{
			Use: "list", Short: "List the pipelines that are trusted", Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error { return a.listTrust(cmd.Context()) },
		},
		&cobra.Command{
			Use: "rm DIGEST…", Short: "Stop trusting pipelines", Args: door.Args(1, -1),
			RunE: func(_ *cobra.Command, args []string) error { return a.forget(args) },
		},
	)
	return cmd
}

// listTrust prints a line for each pipeline: the digest, the day, the name and the file.
func (a *App) listTrust(ctx context.Context) error {
	t := trust(trustDir())
	digests, err := t.list()
	if err != nil {
		return err
	}
	for _, digest := range digests {
		if err := ctx.Err(); err != nil {
			return err
		}
		var p trustedPipeline
		text, err := os.ReadFile(filepath.Join(string(t), digest))
		if err == nil {
			err = json.Unmarshal(text, &p)
		}
		if err != nil {
			p.Name = "?" // its file name is enough to trust it
		}
		line := fmt.Sprintf("%s  %s  %s  %s", digest[:12], p.Time.Format(time.DateOnly), fsutil.Visible(p.Name),
			fsutil.Visible(p.File))
		if err := output(a.writeReport(line)); err != nil {
			return err
		}
	}
	return nil
}

// forget removes the pipelines whose digests have these prefixes. Each prefix must belong to exactly one digest.
func (a *App) forget(args []string) error {
	t := trust(trustDir())
	digests, err := t.list()
	if err != nil {
		return err
	}
	var gone []string
	for _, arg := range args {
		var found []string
		for _, digest := range digests {
			if arg != "" && strings.HasPrefix(digest, arg) {
				found = append(found, digest)
			}
		}
		if len(found) != 1 {
			return &usageError{fmt.Errorf("%d trusted pipelines have a digest that begins with %q", len(found), arg)}
		}
		gone = append(gone, found[0])
	}
	for _, digest := range gone {
		if err := os.Remove(filepath.Join(string(t), digest)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
