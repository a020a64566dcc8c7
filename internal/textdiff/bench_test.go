package textdiff_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/textdiff"
)

func BenchmarkHunks(b *testing.B) {
	for _, lines := range []int{1_000, 10_000, 100_000} {
		for _, tt := range []struct {
			name  string
			kinds int
			share float64
		}{
			{"few changes", 1 << 30, 0.01},
			{"half", 1 << 30, 0.5},
			{"half of repetitive", 20, 0.5},
			{"all", 1 << 30, 1},
		} {
			b.Run(fmt.Sprintf("%s/%d", tt.name, lines), func(b *testing.B) {
				old, new := randomEdit(rand.New(rand.NewPCG(1, 1)), lines, tt.kinds, tt.share)
				a, c := []byte(old), []byte(new)
				b.SetBytes(int64(len(old)))
				b.ReportAllocs()
				for b.Loop() {
					hunksOf(a, c, nil, 3)
				}
			})
		}
	}
}

// BenchmarkRegions replaces one word in every hundredth line.
func BenchmarkRegions(b *testing.B) {
	for _, lines := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprint(lines), func(b *testing.B) {
			var old, new strings.Builder
			var splices []change.Splice
			for i := range lines {
				if i%100 == 0 {
					splices = append(splices, change.Splice{Off: int64(old.Len()), Len: 5, Text: []byte("second")})
					old.WriteString("first")
					new.WriteString("second")
				}
				fmt.Fprintf(&old, " and line %d\n", i)
				fmt.Fprintf(&new, " and line %d\n", i)
			}
			a, c := []byte(old.String()), []byte(new.String())
			b.SetBytes(int64(len(a)))
			b.ReportAllocs()
			for b.Loop() {
				hunksOf(a, c, splices, 3)
			}
		})
	}
}

func BenchmarkFilePatch(b *testing.B) {
	text, edited := randomEdit(rand.New(rand.NewPCG(1, 1)), 10_000, 1<<30, 0.05)
	for _, tt := range []struct{ name, old, new string }{
		{"text", text, edited},
		{"binary", "\x00" + text, "\x00" + edited},
	} {
		b.Run(tt.name, func(b *testing.B) {
			p := textdiff.FilePatch{
				OldName: "f", NewName: "f", OldMode: textdiff.ModeFile, NewMode: textdiff.ModeFile,
				Old: textdiff.Bytes(tt.old), New: textdiff.Bytes(tt.new),
			}
			b.SetBytes(int64(len(tt.old)))
			b.ReportAllocs()
			for b.Loop() {
				if err := p.Print(io.Discard); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
