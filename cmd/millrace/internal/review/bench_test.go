package review_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/cmd/millrace/internal/review"
	"github.com/millrace-go/millrace/fsutil"
)

// abort is a user who aborts at the first question.
type abort struct{}

func (abort) Key(context.Context) (rune, error) { return 'Q', nil }

// BenchmarkFirstKey measures the time from a plan of 11,000 files to the first question, which should be below 300 ms.
func BenchmarkFirstKey(b *testing.B) {
	dir := b.TempDir()
	text := strings.Repeat("a line of the file, as long as most are\n", 40) + "to recieve is\n"
	for i := range 11_000 {
		name := filepath.Join(dir, fmt.Sprint("d", i%100), fmt.Sprint("f", i, ".txt"))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	root, err := fsutil.OpenRoot(dir)
	if err != nil {
		b.Fatal(err)
	}
	defer root.Close()
	p := millrace.New("large").
		Step("fix", actions.PatternReplace{FilePattern: "**/*.txt", SedPattern: []string{"s/recieve/receive/"}}).MustBuild()
	plan, err := millrace.Executor{}.Plan(b.Context(), root, p)
	if err != nil {
		b.Fatal(err)
	}
	defer plan.Close()
	for b.Loop() {
		if _, err := review.New(plan).Run(b.Context(), abort{}, io.Discard); err != review.ErrAborted {
			b.Fatal(err)
		}
	}
}
