package yamlform_test

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/yamlform"
)

// The output of Encode is easy to read and edit.
func TestEncode(t *testing.T) {
	t.Parallel()
	p, err := millrace.Decode([]byte(inJSON))
	if err != nil {
		t.Fatal(err)
	}
	got, err := yamlform.Encode(p)
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile("testdata/encoded.yaml", got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/encoded.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
