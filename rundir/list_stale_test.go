package rundir

import (
	"testing"

	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/runs"
)

// The slot of a waiting run is not trusted if a record was written after it, or if a power cut may have lost the record
// it was written for.
func TestList_staleSlot(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		before, after *record
		harm          bool // a power cut leaves other bytes in the last record
		want          runs.Status
	}{
		"taken":    {after: &record{Kind: kindTake, Status: runs.Pending, Take: &take{}}, want: runs.Failed},
		"held":     {after: &record{Kind: kindHold, Status: runs.Manual, Hold: &hold{}}, want: runs.Manual},
		"canceled": {before: &record{Kind: kindHold, Status: runs.Manual, Hold: &hold{}}, after: &record{Kind: kindEnd, Status: runs.Canceled, End: &end{}}, want: runs.Canceled},
		"harmed":   {before: &record{Kind: kindState, Status: runs.Manual}, harm: true, want: runs.Created},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openStore(t, fstest.OpenRoot(t, t.TempDir()), Options{})
			w := createRun(t, s, twoSteps())
			if test.before != nil {
				fstest.Must(t, w.append(test.before))
			}
			slot := make([]byte, slotSize)
			fstest.Must(t, fstest.ErrOf(w.index.ReadAt(slot, slotSize)))
			if test.after != nil {
				fstest.Must(t, w.append(test.after))
			}
			fstest.Must(t, fstest.ErrOf(w.index.WriteAt(slot, slotSize)))
			size := w.records.End().Offset
			fstest.Must(t, w.close())
			if test.harm {
				f, err := s.openFor(1, runFile, nil)()
				fstest.Must(t, err)
				fstest.Must(t, fstest.ErrOf(f.WriteAt(make([]byte, 10), size-10)))
				fstest.Must(t, f.Close())
			}
			for _, status := range runs.Statuses() {
				page, err := s.List(t.Context(), runs.Filter{Status: status})
				fstest.Must(t, err)
				if (page.Total == 1) != (status == test.want) {
					t.Errorf("%d runs are %s, the run is %s", page.Total, status, test.want)
				}
			}
		})
	}
}
