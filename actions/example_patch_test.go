package actions_test

import (
	"context"
	"fmt"
	"log"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
)

// A patch for an older version of a file is applied at the present place of its lines, and the step warns of that.
func ExamplePatch() {
	fsys := afero.NewMemMapFs()
	if err := afero.WriteFile(fsys, "greet.txt", []byte("a new line\nhello\nworld\n"), 0o644); err != nil {
		log.Fatal(err)
	}
	p, err := millrace.New("greet").Step("fix", actions.Patch{Text: `--- a/greet.txt
+++ b/greet.txt
@@ -1,2 +1,2 @@
 hello
-world
+there
`}).Build()
	if err != nil {
		log.Fatal(err)
	}
	result, err := millrace.Executor{}.Run(context.Background(), fsys, p)
	if err != nil {
		log.Fatal(err)
	}
	text, _ := afero.ReadFile(fsys, "greet.txt")
	fmt.Printf("%s%s\n", text, result.AllWarnings()[0])
	// Output:
	// a new line
	// hello
	// there
	// step 'fix': greet.txt: hunk 1 (line 3 of the patch) applied 1 line further down
}
