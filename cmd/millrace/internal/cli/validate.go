package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/cmd/millrace/internal/door"
)

// checked is the result of validate for a file, in JSON.
type checked struct {
	File     string             `json:"file"`
	Valid    bool               `json:"valid"`
	Problems []millrace.Problem `json:"problems"`
	Warnings []millrace.Problem `json:"warnings"`
	Error    string             `json:"error,omitempty"`
}

// newValidate makes `validate`.
func (a *App) newValidate() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "validate FILE…",
		Short: "Check pipelines without running them",
		Long: `Validate checks the pipelines in files, or in stdin for -, and reads nothing else. Each problem is
a line on stdout, file:line:column: message, which editors and CI understand. The exit status is 2 if there is a
problem; warnings do not count.`,
		Example: `  millrace validate pipelines/*.json
  millrace validate rename.json --format json`,
		Args: door.Args(1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.validate(cmd.Context(), args)
		},
	}
	a.formatFlag(cmd, formatJSON)
	return cmd
}

func (a *App) validate(ctx context.Context, names []string) error {
	list := make([]checked, 0, len(names))
	valid := true
	for _, name := range names {
		c, err := a.check(ctx, name)
		if err != nil {
			return err
		}
		valid = valid && c.Valid
		list = append(list, c)
	}
	var err error
	if a.flags.format == formatJSON {
		err = a.writeJSON(map[string]any{"valid": valid, "files": list})
	} else {
		err = a.writeChecked(list)
	}
	switch {
	case err != nil:
		return &outputError{err}
	case !valid:
		return &saidError{"invalid_pipeline"}
	}
	return nil
}

// check reads and decodes one file. The error is a read error.
func (a *App) check(ctx context.Context, name string) (checked, error) {
	data, err := a.readInput(ctx, name)
	if err != nil {
		return checked{}, err
	}
	c := checked{File: name, Problems: []millrace.Problem{}, Warnings: []millrace.Problem{}}
	p, err := decode(name, data)
	invalid, ok := errors.AsType[*millrace.ValidationError](err)
	switch {
	case err == nil:
		c.Valid = true
		c.Warnings = append(c.Warnings, p.Warnings()...)
	case ok:
		c.Problems = invalid.Problems
	default:
		c.Error = err.Error()
	}
	return c, nil
}

func (a *App) writeChecked(list []checked) error {
	for _, c := range list {
		for _, p := range c.Problems {
			if err := a.writeReport(problemLine(c.File, p)); err != nil {
				return err
			}
		}
		if c.Error != "" {
			if err := a.writeReport(c.File + ": " + c.Error); err != nil {
				return err
			}
		}
		for _, w := range c.Warnings {
			w.Message = "warning: " + w.Message
			if err := a.writeReport(problemLine(c.File, w)); err != nil {
				return err
			}
		}
		if c.Valid && a.flags.verbose {
			a.talk("%s: valid", c.File)
		}
	}
	return nil
}
