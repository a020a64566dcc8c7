package golden_test

import (
	"flag"
	"testing"

	"github.com/millrace-go/millrace/millracetest"
)

var update = flag.Bool("update", false, "write the golden files")

func TestPipelines(t *testing.T) {
	millracetest.Golden(t, "testdata/*.txtar", millracetest.Options{Update: *update})
}
