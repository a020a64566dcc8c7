//go:build unix

package scratch_test

import (
	"strings"
	"testing"

	"github.com/millrace-go/millrace/internal/scratch"
)

// A directory that git regards as a repository is withheld: a command can remove the directory above it, but the
// repository stays.
func TestTree_bareRepository(t *testing.T) {
	t.Parallel()
	for script, fails := range map[string]string{
		"rm -rf testdata":                                            "",
		"mv testdata moved":                                          "git takes testdata/repo.git for a repository",
		"echo x > testdata/x":                                        "",
		"mkdir -p testdata/repo.git; rm testdata/x":                  "is a repository of git",
		"rm -r testdata; mkdir testdata; mkdir testdata/repo.git":    "is a repository of git",
		"rm -r testdata; mkdir testdata; echo x > testdata/repo.git": "is a repository of git",
	} {
		const repo = "testdata/repo.git"
		r := newRig(t, dirOf(t, map[string]string{"a": "a", "testdata/x": "x", repo + "/HEAD": "ref: refs/heads/main\n",
			repo + "/objects/x": "x", repo + "/refs/x": "x"}), nil)
		_, err := r.run(script, scratch.Options{})
		if fails == "" && err != nil || fails != "" && (err == nil || !strings.Contains(err.Error(), fails)) {
			t.Errorf("%s: %v", script, err)
		}
		if _, _, err := r.view.LstatIfPossible(repo + "/HEAD"); err != nil {
			t.Errorf("%s: %v", script, err)
		}
		if _, _, err := r.view.LstatIfPossible("testdata/x"); (err == nil) == strings.Contains(script, "rm -rf") {
			t.Errorf("%s: testdata/x: %v", script, err)
		}
	}
}
