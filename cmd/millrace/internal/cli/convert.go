package cli

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/cmd/millrace/internal/door"
	"github.com/millrace-go/millrace/cmd/millrace/internal/registry"
	"github.com/millrace-go/millrace/yamlform"
)

// The words of --to and --emit.
const (
	formJSON = "json"
	formYAML = "yaml"
)

// newConvert makes `convert`.
func (a *App) newConvert() *cobra.Command {
	var to string
	cmd := &cobra.Command{
		Use:   "convert FILE",
		Short: "Print a pipeline in YAML as JSON, and the other way round",
		Long: `Convert prints the pipeline in FILE, or in stdin for -, in the other form: YAML as JSON, and JSON as YAML. Comments are
not kept.`,
		Example: `  millrace convert rename.yaml > rename.json`,
		Args:    door.Args(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			data, err := a.readInput(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			p, err := decode(args[0], data)
			if err != nil {
				return &sourceError{name: args[0], err: err}
			}
			form := to
			switch {
			case form != "":
			case isYAML(args[0], data):
				form = formJSON
			default:
				form = formYAML
			}
			return a.writePipeline(p, form)
		},
	}
	cmd.Flags().Var(&choice{to: &to, words: []string{formJSON, formYAML}}, "to",
		"the form to print: json, yaml; the other one, unless given")
	return cmd
}

// writePipeline writes a pipeline to stdout, as "json" or "yaml". Commands with --emit call it instead of change.
func (a *App) writePipeline(p millrace.Pipeline, form string) error {
	encode := indented
	if form == formYAML {
		encode = yamlform.Encode
	}
	data, err := encode(p)
	if err != nil {
		return err
	}
	return output(a.writePipelineText(data, form == formYAML))
}

// decode decodes a pipeline in JSON or YAML.
func decode(name string, data []byte) (millrace.Pipeline, error) {
	if isYAML(name, data) {
		return yamlform.Decode(registry.Decoder(), data)
	}
	return registry.Decoder().Decode(data)
}

// isYAML reports whether a text is YAML and not JSON, judged by the name of its file, or else by its beginning.
func isYAML(name string, data []byte) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".yaml", ".yml":
		return true
	case ".json":
		return false
	}
	data = bytes.TrimLeft(data, " \t\r\n")
	return len(data) > 0 && data[0] != '{' && data[0] != '['
}

// indented returns a pipeline as JSON for people.
func indented(p millrace.Pipeline) ([]byte, error) {
	data, err := p.MarshalJSON()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, data, "", "  "); err != nil {
		return nil, err
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}
