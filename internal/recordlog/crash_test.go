package recordlog_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/crashfs"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/recordlog"
)

// moment is the disk before an operation, with the amounts that were durable by then.
type moment struct {
	disk    *crashfs.Fs
	records int   // records that were synced
	data    int64 // bytes that were synced
}

// The power fails before each operation of a writer: the synced data is there, followed by complete records of the
// later data, and the next writer continues after it.
func TestPowerCut(t *testing.T) {
	t.Parallel()
	disk := crashfs.New()
	run, err := recordlog.Create(disk, "run")
	fstest.Must(t, err)
	data, err := recordlog.Create(disk, "data")
	fstest.Must(t, err)
	disk.Settle()
	var moments []moment
	var now moment
	look := func() {
		now.disk = disk.Kill()
		moments = append(moments, now)
	}
	disk.Before(func(op crashfs.Op) error {
		if op.Writes {
			look()
		}
		return nil
	})
	w := recordlog.NewWriter(run, key, recordlog.Start())
	d := recordlog.NewData(opener(data), 0)
	var spans []recordlog.Span
	for i := range 9 {
		span, err := d.Put(fstest.RandomBytes(rand.New(rand.NewPCG(1, uint64(i))), 10*i))
		fstest.Must(t, err)
		spans = append(spans, span)
		if i%3 == 2 {
			fstest.Must(t, d.Sync())
		}
		fstest.Must(t, w.Append(fmt.Appendf(nil, `{"i":%d}`, i)))
		if i%3 == 2 {
			fstest.Must(t, w.Sync())
			now.records, now.data = i+1, span.Offset+span.Length
		}
	}
	look()
	rnd := rand.New(rand.NewPCG(fstest.Seed(t), 0))
	cuts := fstest.Runs(5, 50, 5000)
	for i, m := range moments {
		for range cuts {
			after := m.disk.PowerCut(rnd, rnd.Float64())
			file, err := afero.ReadFile(after, "run")
			fstest.Must(t, err)
			got, r := read(file, key)
			if len(got) < m.records {
				t.Fatalf("moment %d: %d records, %d were synced; %v", i, len(got), m.records, r.Stop())
			}
			for i, s := range got {
				if s != fmt.Sprintf(`{"i":%d}`, i) {
					t.Fatalf("record %d is %s", i, s)
				}
			}
			kept, err := recordlog.Open(after, "data")
			fstest.Must(t, err)
			for i, span := range spans[:m.records] {
				if _, err := recordlog.Check(kept, span); err != nil {
					t.Fatalf("bytes of record %d: %v", i, err)
				}
			}
			f, err := recordlog.Open(after, "run")
			fstest.Must(t, err)
			next := recordlog.NewWriter(f, key, r.End())
			fstest.Must(t, next.Append([]byte("{}")))
			if again, r := read(bytesOf(t, f), key); len(again) != len(got)+1 || r.Stop() != nil {
				t.Fatalf("continued: %d records after %d, %v", len(again), len(got), r.Stop())
			}
		}
	}
	fstest.Countf(t, "%d moments, %d power cuts each", len(moments), cuts)
}
