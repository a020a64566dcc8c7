package millrace_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/txtarfs"
)

// FuzzDecode: whatever is decoded can be written and decoded again to an equal pipeline, and whatever is refused is refused
// with a *ValidationError that has a message.
func FuzzDecode(f *testing.F) {
	archives, err := filepath.Glob("testdata/run/*.txtar")
	if err != nil || len(archives) == 0 {
		f.Fatal("no scenarios", err)
	}
	for _, file := range archives {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		source, _ := txtarfs.Parse(data).Get("pipeline.json")
		f.Add(source)
	}
	f.Add([]byte(`{"name":"p","steps":[{"id":"a","action":"read_ranges","params":{"files":["{{a.files}}"],"start_line":"{{a.count}}"},"raw":true}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := millrace.Decode(data)
		if err != nil {
			invalid, ok := errors.AsType[*millrace.ValidationError](err)
			if !ok || len(invalid.Problems) == 0 || invalid.Problems[0].Message == "" {
				t.Fatalf("error %#v", err)
			}
			return
		}
		written, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		again, err := millrace.Decode(written)
		if err != nil {
			t.Fatalf("%v\n%s", err, written)
		}
		if !p.Equal(again) || p.Digest() != again.Digest() {
			t.Fatalf("the pipeline has changed:\n%s\n%s", data, written)
		}
	})
}
