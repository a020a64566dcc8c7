package oneline_test

import (
	"strings"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/cmd/millrace/internal/oneline"
)

func TestComplete(t *testing.T) {
	t.Parallel()
	list := func(dir string) []string {
		return map[string][]string{".": {"a.go", "src/", ".hidden"}, "src/": {"b.go"}, "/": {"etc/"}}[dir]
	}
	for _, test := range []struct{ args, word, want string }{
		{"", "pa", "patch pattern_replace"},
		{"search pattern=a then", "mu", "multi_edit"},
		{"search", "file", "file_types="},
		{"search file_types=go", "file", "file_types="},
		{"search pattern=a path=x", "p", "paths="},
		{"search pattern:=1", "pat", "path= paths="},
		{"multi_edit", "e", "edits:= encoding="},
		{"edit", "th", "then"},
		{"search pattern=a then edit old_text=a", "old", ""},
		{"search pattern=a then edit", "old", "old_text="},
		{"edit", "mode=", "mode=literal mode=regex mode=structural"},
		{"edit", "ignore_case=t", "ignore_case=true"},
		{"edit", "files=", "files=a.go files=src/"},
		{"edit", "files=.", "files=.hidden"},
		{"edit", "files=src/", "files=src/b.go"},
		{"search", "path=/", "path=/etc/"},
		{"edit", "old_text=@s", "old_text=@src/"},
		{"edit", "old_text=", ""},
		{"edit", "nothing=", ""},
		{"edit", "files:=", ""},
		{"nothing", "f", ""},
	} {
		var got []string
		for _, w := range oneline.Complete(millrace.Decoder{}, strings.Fields(test.args), test.word, list) {
			got = append(got, w.Text)
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%q %q: %q, want %q", test.args, test.word, got, test.want)
		}
	}
	for _, w := range oneline.Complete(millrace.Decoder{}, nil, "edit", nil) {
		if w.Doc == "" {
			t.Errorf("%s has no description", w.Text)
		}
	}
}
