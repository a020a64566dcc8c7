package cli

import (
	"github.com/spf13/cobra"

	"github.com/millrace-go/millrace/cmd/millrace/internal/registry"
)

// newSchema makes `schema`.
func (a *App) newSchema() *cobra.Command {
	return &cobra.Command{
		Use:     "schema",
		Short:   "Print the JSON Schema of pipelines",
		Example: `  millrace schema > pipeline.schema.json`,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			schema, err := registry.Decoder().Schema()
			if err != nil {
				return err
			}
			if err := a.write(endLine(string(schema))); err != nil {
				return &outputError{err}
			}
			return nil
		},
	}
}
