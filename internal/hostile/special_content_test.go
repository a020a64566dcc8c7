package hostile_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/fstest"
)

func TestHostile_empty_old_text(t *testing.T) {
	t.Parallel()
	files := []string{"a.txt"}
	for pointer, s := range map[string]obj{
		"/steps/0/params/old_text":           editFile("a.txt", "", "x"),
		"/steps/0/params/edits/0/old_text":   act("multi_edit", obj{"files": files, "edits": []obj{{"old_text": "", "new_text": "x"}}}),
		"/steps/0/params/patterns/0/pattern": act("regex_transform", obj{"files": files, "patterns": []obj{{"pattern": "", "replacement": "x"}}}),
		"/steps/0/params/pattern":            act("count_occurrences", obj{"files": files, "pattern": ""}),
	} {
		err := decodeBad(t, millrace.Decoder{}, pipeline(t, s))
		invalid, ok := errors.AsType[*millrace.ValidationError](err)
		if !ok || !slices.ContainsFunc(invalid.Problems, func(p millrace.Problem) bool { return p.Pointer == pointer }) {
			t.Errorf("want a problem at %s, got %T: %v", pointer, err, err)
		}
	}
	// A template with an empty value is refused when it is expanded.
	eachBackend(t, func(t *testing.T, b *backend) {
		b.plant(t, map[string]string{"empty1.txt": "", "empty2.txt": ""})
		before := b.snapshot(t)
		_, err := b.runOn(t, host(),
			act("read_ranges", obj{"files": []string{"empty1.txt"}}, id("r1")), act("read_ranges", obj{"files": []string{"empty2.txt"}}, id("r2")),
			act("aggregate", obj{"separator": "{{r1.aggregated_content}}"}, obj{"input_from_all": []string{"r1", "r2"}}, id("none")),
			editFile("a.txt", "{{r1.aggregated_content}}", "x"))
		wantStepError(t, err, "edit", "old_text", nil)
		if _, ok := errors.AsType[*millrace.InterpolationError](err); !ok {
			t.Errorf("want an *InterpolationError, got %T: %v", err, err)
		}
		b.unchanged(t, before)
	})
}

// A file with a single long line: no action assumes that a line is short.
func TestHostile_one_long_line(t *testing.T) {
	t.Parallel()
	size := fstest.Runs(5<<20, 20<<20, 100<<20)
	dir := fstest.TempDir(t)
	line := []byte(strings.Repeat("hay ", size/4) + "needle")
	if err := os.WriteFile(filepath.Join(dir, "large.txt"), line, 0o644); err != nil {
		t.Fatal(err)
	}
	m := measure(t, job{Dir: dir, Pipeline: string(pipeline(t,
		act("search", obj{"pattern": "needle"}),
		act("count_occurrences", obj{"files": []string{"large.txt"}, "pattern": "n[e]+dle$", "mode": "regex"}),
		editFile("large.txt", "needle", "pin"),
		editFile("large.txt", "no such text", "", id("nearest")),
		act("regex_transform", obj{"files": []string{"large.txt"}, "patterns": []obj{{"pattern": "(?m)p(i)n$", "replacement": "P${1}N"}}}),
		act("read_ranges", obj{"files": []string{"large.txt"}, "start_line": 2}, id("beyond"), obj{"condition": obj{"type": "file_not_exists", "path": "large.txt"}})))})
	if m.Err != "" {
		t.Fatal(m.Err)
	}
	m.wantPeak(t, uint64(12*size+64<<20))
	got, err := os.ReadFile(filepath.Join(dir, "large.txt"))
	if err != nil || len(got) != len(line)-3 || !strings.HasSuffix(string(got[len(got)-8:]), " PiN") {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	t.Logf("a line of %d MiB", size>>20)
}

// Files without a line end, without content, or with only a byte order mark or carriage returns: bytes outside the
// matches stay unchanged.
func TestHostile_files_without_lines(t *testing.T) {
	t.Parallel()
	const bom = "\ufeff"
	odd := map[string]string{
		"no newline": "needle", "empty": "", "bom": bom, "bom and text": bom + "needle", "cr": "\r", "crs": "\r\r\r", "cr lines": "one\rneedle\r",
		"crlf": "needle\r\n", "mixed": "one\r\nneedle\ntwo\r", "lf": "\n", "bad utf-8": "\xff\xfeneedle\xff", "bom twice": bom + bom + "\r\nneedle",
	}
	for name, text := range odd {
		t.Run(name, func(t *testing.T) {
			eachCommitting(t, func(t *testing.T, b *backend) {
				b.plant(t, map[string]string{"odd.txt": text})
				files := []string{"odd.txt"}
				res, err := b.runOn(t, host(),
					act("read_ranges", obj{"files": files}),
					act("count_occurrences", obj{"files": files, "pattern": "(?m)^|$|x*", "mode": "regex"}),
					editFile("odd.txt", "needle", "pin"),
					act("regex_transform", obj{"files": files, "patterns": []obj{{"pattern": "(?m)^nothing$", "replacement": "x\n"}}}),
					act("diff", obj{"file_a": "odd.txt", "file_b": "odd.txt"}),
					editFile("a.txt", "needle", "pin", id("other")))
				if err != nil {
					t.Fatal(err)
				}
				if got := res.Results[0].Content["odd.txt"]; got != text && strings.ToValidUTF8(text, "\ufffd") != strings.ToValidUTF8(got, "\ufffd") {
					t.Errorf("read %q, want %q", got, text)
				}
				if got, want := b.content(t, "odd.txt"), strings.ReplaceAll(text, "needle", "pin"); got != want {
					t.Errorf("got %q, want %q", got, want)
				}
			})
		})
	}
}
