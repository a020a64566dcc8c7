package rundir

import (
	"fmt"
	"testing"

	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/runs"
)

// BenchmarkList lists a page of 50 runs, filtered, in a store that was just opened.
func BenchmarkList(b *testing.B) {
	for _, count := range []int{10_000, 100_000} {
		b.Run(fmt.Sprint(count), func(b *testing.B) {
			dir := b.TempDir()
			root := openBench(b, dir)
			for i := range count {
				n := twoSteps()
				n.User = fmt.Sprintf("user%d", i%7)
				w := createRun(b, root, n)
				work(b, w, runs.Success, false)
				fstest.Must(b, w.close())
			}
			for _, f := range []runs.Filter{{User: "user3"}, {User: "user3", OrderBy: runs.ByUpdatedAt, Ascending: true}} {
				f.PerPage = 50
				b.Run("by "+string(f.OrderBy), func(b *testing.B) {
					for b.Loop() {
						page, err := openBench(b, dir).List(b.Context(), f)
						if err != nil || len(page.Items) != 50 {
							b.Fatal(len(page.Items), err)
						}
					}
				})
			}
		})
	}
}

func openBench(b *testing.B, dir string) *Store {
	return openStore(b, openDir(b, dir), Options{NoSync: true})
}

// BenchmarkList_queue lists a page of 50 runs that wait for a process.
func BenchmarkList_queue(b *testing.B) {
	const count = 10_000
	dir := b.TempDir()
	root := openBench(b, dir)
	for range count {
		fstest.Must(b, createRun(b, root, twoSteps()).close())
	}
	for name, f := range map[string]runs.Filter{
		"": {User: "ann"}, "by status": {Status: runs.Created}, "by time": {OrderBy: runs.ByUpdatedAt},
	} {
		b.Run(name, func(b *testing.B) {
			f.PerPage = 50
			for b.Loop() {
				page, err := openBench(b, dir).List(b.Context(), f)
				if err != nil || len(page.Items) != 50 || page.Total != count {
					b.Fatal(len(page.Items), err)
				}
			}
		})
	}
}

// BenchmarkSlots measures the part of a list that uses only the index.
func BenchmarkSlots(b *testing.B) {
	e := entryOf(shownRun{folded: history(b, ended(runs.Success, "")), number: 12})
	e.name, e.sha, e.id = []byte("rename"), make([]byte, 64), make([]byte, 32)
	slot, l := e.encode(), &lister{f: runs.Filter{User: "ann"}, most: 50}
	statuses := runs.Statuses()
	b.ReportAllocs()
	for b.Loop() {
		if !e.decode(slot, 12, statuses) || !e.settled() || !l.visit(&e) {
			b.Fatal("the slot is not taken")
		}
	}
}
