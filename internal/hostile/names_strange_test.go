package hostile_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/millrace-go/millrace"
)

func skipOnWindows(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the file system cannot have such names here")
	}
}

// strange plants a file of that name, edits it through a search, copies it, moves the copy and restores everything. It
// returns the texts about the run that people and programs see.
func strange(t *testing.T, b *backend, name string) (shown []string, res *millrace.Result) {
	t.Helper()
	b.plant(t, map[string]string{"strange/" + name: "needle\n"})
	before := b.snapshot(t)
	var log bytes.Buffer
	x := host()
	x.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	steps := []obj{
		act("search", obj{"path": "strange", "pattern": "needle"}, obj{"id": "find"}),
		act("edit", obj{"old_text": "needle", "new_text": "pin"}, obj{"input_from": "find"}),
		act("copy", obj{"destination": "copies"}, obj{"input_from": "find"}),
		act("rename", obj{"to": "moved/{{name}}"}, obj{"input_from": "copy"}),
	}
	text, err := json.Marshal(obj{"name": "strange", "verbose": true, "steps": steps})
	if err != nil {
		t.Fatal(err)
	}
	p, err := millrace.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := x.Plan(t.Context(), b.fs, p)
	if err != nil {
		t.Fatal(err)
	}
	res = plan.Result()
	if b.commits {
		if res, err = x.Run(t.Context(), b.fs, p); err != nil {
			t.Fatal(err)
		}
		if b.content(t, "strange/"+name) != "pin\n" || b.content(t, "moved/"+name) != "pin\n" {
			t.Error("the files do not have the new content")
		}
		if _, err := x.Restore(t.Context(), b.fs, res.BackupID); err != nil {
			t.Fatal(err)
		}
		after := b.snapshot(t)
		for path, was := range before {
			if after[path] != was {
				t.Errorf("after the restore %q is %s, was %s", path, after[path], was)
			}
		}
		if b.has("moved/" + name) {
			t.Error("the copy still exists after the restore")
		}
	}
	if !slices.Equal(res.FilesChanged.Modified, []string{"strange/" + name}) || !slices.Equal(res.FilesChanged.Created, []string{"moved/" + name}) {
		t.Errorf("changed %+q", res.FilesChanged)
	}
	var report bytes.Buffer
	if err := res.WriteReport(&report); err != nil {
		t.Fatal(err)
	}
	failed, err := x.Run(t.Context(), b.fs, decoded(t, act("search", obj{"path": "strange", "pattern": "needle"}, obj{"id": "find"}),
		act("copy", obj{"destination": "strange"}, obj{"input_from": "find"})))
	if err == nil {
		t.Fatal("a file was copied onto itself")
	}
	return []string{report.String(), plan.Diff(), log.String(), failed.String()}, res
}

func TestHostile_control_characters(t *testing.T) {
	t.Parallel()
	skipOnWindows(t)
	for i, name := range []string{"new\nline.txt", "carriage\rreturn.txt", "esc\x1b[31mred.txt", "tab\tbell\a.txt", "del\x7fc1\u0085.txt"} {
		t.Run(fmt.Sprintf("%+q", name), func(t *testing.T) {
			eachOf(t, backendsFor(i), func(t *testing.T, b *backend) {
				shown, res := strange(t, b, name)
				for n, text := range shown {
					if strings.Contains(text, name) || strings.ContainsAny(text, "\r\x1b\a\x7f\u0085") {
						t.Errorf("text %d shows the name as it is: %q", n, text)
					}
				}
				data, err := json.Marshal(res)
				if err != nil {
					t.Fatal(err)
				}
				var back millrace.Result
				if err := json.Unmarshal(data, &back); err != nil || !slices.Equal(back.FilesChanged.Modified, res.FilesChanged.Modified) {
					t.Errorf("read back from JSON: %q, %v", back.FilesChanged.Modified, err)
				}
			})
		})
	}
}

// JSON cannot express such a name, so no pipeline can contain it, but a name from a search reaches later steps
// unchanged. A result shows the byte as U+FFFD, the journal keeps it, and a plan with it cannot be stored.
func TestHostile_invalid_utf8(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the file systems of other systems refuse such names")
	}
	const name = "bad\xff\xfe.txt"
	eachBackend(t, func(t *testing.T, b *backend) {
		_, res := strange(t, b, name)
		data, err := json.Marshal(res)
		if err != nil || !bytes.Contains(data, []byte(`strange/bad\ufffd\ufffd.txt`)) {
			t.Errorf("result as JSON: %s, %v", data, err)
		}
		plan, err := host().Plan(t.Context(), b.fs, decoded(t,
			act("search", obj{"path": "strange", "pattern": "needle"}, obj{"id": "find"}),
			act("edit", obj{"old_text": "needle", "new_text": "pin"}, obj{"input_from": "find"})))
		if err != nil {
			t.Fatal(err)
		}
		_, err = json.Marshal(plan)
		if bad, ok := errors.AsType[*millrace.PlanError](err); !ok || bad.Path != "strange/"+name {
			t.Errorf("plan as JSON: %v", err)
		}
		_, err = millrace.Decode([]byte(`{"name":"p","steps":[{"id":"a","action":"delete","params":{"files":["` + name + `"]}}]}`))
		if _, ok := errors.AsType[*millrace.ValidationError](err); !ok {
			t.Errorf("decoded: %v", err)
		}
	})
}

func TestHostile_bidi_and_zero_width(t *testing.T) {
	t.Parallel()
	skipOnWindows(t)
	for i, name := range []string{"gpj.\u202etxt.sh", "zero\u200bwidth.txt", "mark\ufeff.txt", "iso\u2066late\u2069.txt", "join\u2060er.txt"} {
		t.Run(fmt.Sprintf("%+q", name), func(t *testing.T) {
			eachOf(t, backendsFor(i), func(t *testing.T, b *backend) {
				shown, res := strange(t, b, name)
				for n, text := range []string{shown[0], shown[3]} {
					if strings.Contains(text, name) {
						t.Errorf("text %d shows the name as it is: %q", n, text)
					}
				}
				for _, path := range []string{"strange/" + name, "moved/" + name} {
					if !slices.ContainsFunc(res.Warnings, func(w string) bool { return strings.Contains(w, fmt.Sprintf("%+q", path)) }) {
						t.Errorf("no warning of %+q: %q", path, res.Warnings)
					}
				}
			})
		})
	}
}

// Names that mean something to a shell or a web server mean nothing here.
func TestHostile_names_with_signs_of_globs(t *testing.T) {
	t.Parallel()
	skipOnWindows(t)
	for i, name := range []string{"-rf", "~", "~/x", "$HOME", "%2e%2e", "%2e%2e/secret", "*", "a*.txt", "`id`", "$(id)", "{a,b}.txt", "[a].txt", "..."} {
		t.Run("", func(t *testing.T) {
			eachOf(t, backendsFor(i), func(t *testing.T, b *backend) {
				b.refuses(t, fs.ErrNotExist, name, act("edit", obj{"files": []string{name}, "old_text": "needle", "new_text": "pin"}))
				b.works(t,
					act("copy", obj{"files": []string{"a.txt"}, "to": name}),
					act("edit", obj{"files": []string{name}, "old_text": "needle", "new_text": "pin"}),
					act("search", obj{"path": name, "pattern": "pin"}, obj{"expect": obj{"min_files": 1, "max_files": 1}}))
				if !b.commits {
					return
				}
				if b.content(t, name) != "alpha pin\n" || b.content(t, "a.txt") != "alpha needle\n" {
					t.Error("the content differs")
				}
				b.works(t, act("delete", obj{"files": []string{name}}))
				if b.has(name) || !b.has("a.txt") || !b.has("b.txt") {
					t.Error("delete treated the name as a glob or a link")
				}
			})
		})
	}
}
