package byname

import (
	"embed"
	"fmt"
	"path"
	"strings"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
)

//go:embed kinds/*.yaml
var kinds embed.FS

// Kinds returns the kinds of first pipelines.
func Kinds() []string { return []string{"rename", "licence", "codemod", "fix-loop"} }

// initial returns the pipeline that writes a first pipeline of a kind, with comments, to the directory of the project.
func initial(kind string) (millrace.Pipeline, error) {
	text, err := kinds.ReadFile("kinds/" + kind + ".yaml")
	if err != nil {
		if near, ok := actions.Nearest(kind, Kinds()); ok {
			return millrace.Pipeline{}, fmt.Errorf("unknown kind %q: did you mean %q?", kind, near)
		}
		return millrace.Pipeline{}, fmt.Errorf("unknown kind %q: the kinds are %s", kind,
			strings.Join(Kinds(), ", "))
	}
	write := actions.Create{Path: path.Join(Dir, kind+".yaml"), Content: string(text)}
	return millrace.New("init "+kind).Step("write", write).Raw().Build()
}
