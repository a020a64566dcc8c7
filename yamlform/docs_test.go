package yamlform_test

import (
	"os"
	"strings"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/yamlform"
)

// The example in the documentation is a pipeline.
func TestDocumentedExample(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/yaml.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "```yaml\n")
	example, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatal("no example")
	}
	p, err := yamlform.Decode(millrace.Decoder{}, []byte(example))
	if err != nil || p.Len() != 3 {
		t.Errorf("%d steps: %v", p.Len(), err)
	}
}
