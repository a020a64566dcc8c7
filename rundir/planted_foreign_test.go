package rundir

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/recordlog"
	"github.com/millrace-go/millrace/runs"
)

// A stranger's run in which many records refer to the same large bytes is shown within limits.
func TestPlanted_sameBytes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	theirs := openStore(t, openDir(t, dir), Options{NoSync: true, Key: []byte("another key, which is long enough")})
	n := twoSteps()
	for range 60 {
		n.steps = append(n.steps, stepName{"more", "edit"})
	}
	w := createRun(t, theirs, n)
	text := `{"step_id":"x","success":true,"warnings":["` + strings.Repeat("w", 8<<20) + `"]}`
	sum := sha256.Sum256([]byte(text))
	span := &recordlog.Span{Length: int64(len(text)), SHA256: hex.EncodeToString(sum[:])}
	fstest.Must(t, w.append(&record{Kind: kindTake, Status: runs.Pending, Take: w.me()}))
	for i := range 62 {
		ordinal, err := w.jobFor(i)
		fstest.Must(t, err)
		at := &place{Step: "more", Index: i, Visit: 1, Attempt: 1}
		fstest.Must(t, w.append(&record{Kind: kindDone, Job: ordinal, At: at, Done: &done{Result: value{Span: span}, Final: true}}))
	}
	fstest.Must(t, w.close())
	fstest.Must(t, os.WriteFile(filepath.Join(dir, "store/runs/000000/000000001/data"), []byte(text), 0o600))
	s := openStore(t, openDir(t, dir), Options{NoSync: true})
	run, err := s.Get(t.Context(), runs.RunRef{ID: "1"})
	fstest.Must(t, err)
	_, err = s.Job(t.Context(), runs.JobRef{ID: "1002"})
	fstest.Must(t, err)
	size := 0
	for _, r := range run.Result.Results {
		for _, w := range r.Warnings {
			size += len(w)
		}
	}
	if size > maxForeign || len(run.Result.Warnings) != 62 {
		t.Errorf("%d bytes are shown, and %d warnings", size, len(run.Result.Warnings))
	}
}
