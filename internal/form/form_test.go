package form_test

import (
	"testing"

	"github.com/millrace-go/millrace/internal/form"
)

func TestMatch(t *testing.T) {
	object := &form.Form{Kind: form.Object, Fields: []form.Field{
		{Name: "min_files"}, {Name: "max_files"}, {Name: "dry_run", Aliases: "preview"}, {Name: "a", Aliases: "both"},
		{Name: "b", Aliases: "both"}, {Name: "file"},
	}}
	for word, want := range map[string]string{
		"minFiles": "min_files", "MAX-FILES": "max_files", "max_file": "max_files", "mix_files": "", "dryrun": "dry_run", "dry run": "dry_run",
		"Preview": "dry_run", "both": "", "title": "", "fil": "file", "": "", "x": "", "dry_run": "dry_run",
	} {
		if got, _ := object.Match(word); got != want {
			t.Errorf("%q stands for %q, want %q", word, got, want)
		}
	}
}
