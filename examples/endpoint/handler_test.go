package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/risk"
)

// TestHandler posts what testdata/requests.txt has, one after the other, and compares all answers.
func TestHandler(t *testing.T) {
	fsys := afero.NewMemMapFs()
	for name, text := range map[string]string{"a.md": "to recieve\n", "b.md": "to recieve, too\n", ".env": "recieve=1\n"} {
		if err := afero.WriteFile(fsys, name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 60 {
		if err := afero.WriteFile(fsys, fmt.Sprintf("docs/%02d.md", i), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	h := handler{tree: fsys, host: millrace.Executor{Ceiling: risk.Medium, DeniedPaths: []string{".env"}, RequireMatches: true}}
	requests, err := os.ReadFile("testdata/requests.txt")
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for request := range strings.SplitSeq(string(requests), "-- request --\n") {
		if request == "" {
			continue
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/", strings.NewReader(request)))
		var answer bytes.Buffer
		if err := json.Indent(&answer, w.Body.Bytes(), "", "  "); err != nil {
			t.Fatalf("%v in %s", err, w.Body)
		}
		fmt.Fprintf(&got, "-- request --\n%s-- %d --\n%s", request, w.Code, answer.String())
	}
	want, err := os.ReadFile("testdata/answers.txt")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got.String()); d != "" {
		t.Errorf("answers (-want +got):\n%s", d)
	}
	if text, err := afero.ReadFile(fsys, ".env"); err != nil || string(text) != "recieve=1\n" {
		t.Errorf("what the host denies is %q, %v", text, err)
	}
}
