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
	"github.com/millrace-go/millrace/millracetest"
	"github.com/millrace-go/millrace/risk"
)

// TestHandler posts the requests in testdata/requests.txt in order, and compares all answers.
func TestHandler(t *testing.T) {
	const files = "-- a.md --\nto recieve\n-- b.md --\nto recieve, too\n-- .env --\nrecieve=1\n"
	var docs strings.Builder
	for i := range 60 {
		fmt.Fprintf(&docs, "-- docs/%02d.md --\n", i)
	}
	fsys := millracetest.Tree(t, files+docs.String())
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
