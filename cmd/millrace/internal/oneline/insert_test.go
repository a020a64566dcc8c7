package oneline_test

import (
	"testing"

	"github.com/millrace-go/millrace/cmd/millrace/internal/oneline"
)

// TestReplace_insert: a line before or after a line is an edit of the whole line.
func TestReplace_insert(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		dir string
		r   oneline.Replace
		want
	}{
		"a line before": {".", oneline.Replace{Old: "a.b", New: `$1\n`, Insert: oneline.InsertBefore},
			want{steps: `{'id':'find','action':'search','params':{'pattern':'a.b','mode':'literal'}},` +
				`{'id':'fix','action':'edit','input_from':'find','params':{'old_text':'^.*(?:a\\.b).*$','new_text':'$$1\\\\n\n$0','mode':'regex'}}`}},
		"a line after": {".", oneline.Replace{Old: "(?u)a|b", New: `\U$0`, Regex: true, Insert: oneline.InsertAfter, Paths: []string{"a.go"}},
			want{steps: `{'id':'fix','action':'edit','params':{'files':['a.go'],'old_text':'(?u)^.*(?:a|b).*$','new_text':'$0\n\\U$0','mode':'regex'}}`}},
		"a line before, in upper case": {".", oneline.Replace{Old: "a", New: `\U$0`, Regex: true, Words: true, Insert: oneline.InsertBefore, Paths: []string{"a.go"}},
			want{steps: `{'id':'fix','action':'edit','params':{'files':['a.go'],'old_text':'(?u)^.*(?:\\b(?:a)\\b).*$','new_text':'\\U$0\\E\n$0','mode':'regex'}}`}},
		"half groups":          {".", oneline.Replace{Old: "a)|(b", Regex: true, Insert: oneline.InsertAfter, Paths: []string{"a.go"}}, want{err: "unexpected )"}},
		"half groups of words": {".", oneline.Replace{Old: "a)|(b", Regex: true, Words: true, Paths: []string{"a.go"}}, want{err: "unexpected )"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := here(test.dir).Replace(test.r)
			check(t, p, err, test.want)
		})
	}
}
