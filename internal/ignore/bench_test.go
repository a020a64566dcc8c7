package ignore_test

import (
	"fmt"
	"testing"

	"github.com/millrace-go/millrace/internal/ignore"
)

// The content of a usual project's .gitignore.
const usual = `# build
*.o
*.a
*.so
*.exe
/bin/
/dist/
build/
node_modules/
vendor/*/testdata
*.log
!keep.log
*~
.*.sw?
.DS_Store
Thumbs.db
__pycache__/
*.py[cod]
coverage*.out
docs/**/*.html
/config/local.yaml
`

func BenchmarkMatch(b *testing.B) {
	var m *ignore.Matcher
	m = m.Enter(".", []byte(usual))
	paths := make([]string, 64)
	for i := range paths {
		paths[i] = fmt.Sprintf("internal/pkg%d/file_%d.%s", i%7, i, []string{"go", "c", "html", "log"}[i%4])
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		m.Ignored(paths[i&63], false)
		i++
	}
}

func BenchmarkParse(b *testing.B) {
	data := []byte(usual)
	b.ReportAllocs()
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		ignore.Parse(data, "some/dir")
	}
}
