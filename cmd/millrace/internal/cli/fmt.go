package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/millrace-go/millrace/cmd/millrace/internal/door"
)

// newFmt makes `fmt`.
func (a *App) newFmt() *cobra.Command {
	var write, check bool
	cmd := &cobra.Command{
		Use:   "fmt [-w|--check] FILE…",
		Short: "Write pipelines in the usual form",
		Long: `Fmt prints the pipelines in files, or in stdin for -, as JSON in the usual form: fields in the
order of the documentation, two spaces to indent, without defaults. YAML has comments and forms that would be
lost, so it is only checked, and printed unchanged.`,
		Example: `  millrace fmt -w pipelines/*.json
  millrace fmt --check pipelines/*.json    exit status 10 if one is not in that form`,
		Args: door.Args(1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			changes := false
			for _, name := range args {
				changed, err := a.formatFile(cmd.Context(), name, write, check)
				if err != nil {
					return err
				}
				changes = changes || changed
			}
			if check && changes {
				return &saidError{"would_change"}
			}
			return nil
		},
	}
	cmd.Flags().BoolVarP(&write, "write", "w", false, "write the files instead of printing them")
	cmd.Flags().BoolVar(&check, "check", false, "print only the names of files that are not in that form")
	cmd.MarkFlagsMutuallyExclusive("write", "check")
	return cmd
}

// formatFile formats one file and reports whether that changes it.
func (a *App) formatFile(ctx context.Context, name string, write, check bool) (bool, error) {
	data, err := a.readInput(ctx, name)
	if err != nil {
		return false, err
	}
	p, err := decode(name, data)
	if err != nil {
		return false, &sourceError{name: name, err: err}
	}
	formatted := data
	if !isYAML(name, data) {
		if formatted, err = indented(p); err != nil {
			return false, err
		}
	}
	changed := !bytes.Equal(data, formatted)
	switch {
	case check && changed:
		err = a.writeShown(name)
	case check || write && !changed:
	case write && name == "-":
		return false, &usageError{errors.New("-w cannot write to stdin")}
	case write:
		return changed, replaceFile(a.base(name), formatted)
	default:
		err = a.writePipelineText(formatted, isYAML(name, data))
	}
	if err != nil {
		return changed, &outputError{err}
	}
	return changed, nil
}

// replaceFile replaces the bytes of a file atomically, and keeps its permissions. For a link it replaces the target.
func replaceFile(name string, data []byte) error {
	name, err := filepath.EvalSymlinks(name)
	if err != nil {
		return &outputError{err}
	}
	info, err := os.Stat(name)
	if err != nil {
		return &outputError{err}
	}
	if err := writeFile(name, data, info.Mode().Perm()); err != nil {
		return &outputError{fmt.Errorf("%s was not written: %w", name, err)}
	}
	return nil
}
