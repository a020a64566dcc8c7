package millrace_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/fsutil"
)

const benchPipeline = `{"name":"bench","force":true,"steps":[
	{"id":"find","action":"search","params":{"pattern":"needle","mode":"literal"}},
	{"id":"edit","action":"edit","input_from":"find","params":{"old_text":"needle","new_text":"thread"}},
	{"id":"left","action":"count_occurrences","input_from":"find","params":{"pattern":"needle"}},
	{"id":"note","action":"edit","condition":{"type":"count_gt","step_ref":"left","value":0},"params":{"files":["f0000.txt"],"old_text":"hay","new_text":"{{left.count}}"}}]}`

// plant writes files of about 4 KiB, of which every tenth has the needle.
func plant(b *testing.B, fsys afero.Fs, files int) {
	b.Helper()
	hay := strings.Repeat("a line of hay that is like all the others\n", 100)
	for i := range files {
		text := hay
		if i%10 == 0 {
			text += "the needle\n"
		}
		if err := afero.WriteFile(fsys, fmt.Sprintf("f%04d.txt", i), []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	b.ReportAllocs()
	b.SetBytes(int64(len(benchPipeline)))
	for b.Loop() {
		if _, err := millrace.Decode([]byte(benchPipeline)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPlan is a dry run without its diff, by the number of files and the kind of file system.
func BenchmarkPlan(b *testing.B) {
	p, err := millrace.Decode([]byte(benchPipeline))
	if err != nil {
		b.Fatal(err)
	}
	for _, files := range []int{10, 1000, 4000} {
		b.Run(fmt.Sprintf("memory/%d", files), func(b *testing.B) {
			fsys := afero.NewMemMapFs()
			plant(b, fsys, files)
			benchPlan(b, fsys, p, files)
		})
		b.Run(fmt.Sprintf("root/%d", files), func(b *testing.B) {
			root, err := fsutil.OpenRoot(b.TempDir())
			if err != nil {
				b.Fatal(err)
			}
			defer root.Close()
			plant(b, root, files)
			benchPlan(b, root, p, files)
		})
	}
}

func benchPlan(b *testing.B, fsys afero.Fs, p millrace.Pipeline, files int) {
	b.ReportAllocs()
	for b.Loop() {
		plan, err := millrace.Executor{}.Plan(b.Context(), fsys, p)
		if err != nil {
			b.Fatal(err)
		}
		if got, want := plan.Result().TotalEdits, (files+9)/10; got != want {
			b.Fatalf("%d edits, want %d", got, want)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*files), "ns/file")
}
