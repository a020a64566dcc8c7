package match_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/internal/match"
)

// corpus is some 16 MiB of Go source.
func corpus(b *testing.B) []byte {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		b.Skip("there is no Go source to search:", err)
	}
	names, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(root)), "src", "*", "*.go"))
	if err != nil || len(names) == 0 {
		b.Skip("there is no Go source to search")
	}
	var all []byte
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			b.Fatal(err)
		}
		all = append(all, data...)
	}
	return all[:min(len(all), 16<<20)]
}

func BenchmarkLiteral(b *testing.B) {
	data := corpus(b)
	for _, needle := range []string{"ioutil.ReadAll", "recieve", "errors.New", "return nil, err", "e the ", "TODO", "zzzq"} {
		b.Run(strings.ReplaceAll(needle, " ", "_"), func(b *testing.B) {
			p, err := match.Compile(needle, match.Literal, match.Flags{})
			if err != nil {
				b.Fatal(err)
			}
			b.Run("match", func(b *testing.B) {
				b.SetBytes(int64(len(data)))
				b.ReportAllocs()
				for b.Loop() {
					if _, err := p.Count(context.Background(), data); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run("bytes", func(b *testing.B) {
				b.SetBytes(int64(len(data)))
				for b.Loop() {
					bytes.Count(data, []byte(needle))
				}
			})
		})
	}
}

func BenchmarkRegex(b *testing.B) {
	data := corpus(b)
	for _, source := range []string{
		`func \(\w+ \*(\w+)\) Close\(\) error`, `(\w+)\.ReadAll\((\w+)\)`, `\b[A-Z]\w+Set(Id|Name)\b`, `(?i)recieve`, `(?m)^\s*//\s*TODO.*$`,
		`fmt\.(Print|Sprint|Fprint)(f|ln)?\(`,
	} {
		b.Run(source, func(b *testing.B) {
			p, err := match.Compile(source, match.Regex, match.Flags{})
			if err != nil {
				b.Fatal(err)
			}
			want := 0
			b.Run("match", func(b *testing.B) {
				b.SetBytes(int64(len(data)))
				b.ReportAllocs()
				for b.Loop() {
					if want, err = p.Count(context.Background(), data); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run("regexp", func(b *testing.B) {
				re := regexp.MustCompile(source)
				b.SetBytes(int64(len(data)))
				for b.Loop() {
					if n := len(re.FindAllIndex(data, -1)); n != want && want != 0 {
						b.Fatalf("%d matches, but %d of ours", n, want)
					}
				}
			})
		})
	}
}
