package gittrees

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/millrace-go/millrace/internal/show"
)

// running matches the settings of a repository that could make these calls of git run a program. It omits hooks, the
// file monitor, editors and pagers, because every call turns them off.
var running = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:` + strings.Join([]string{
		`core\.(?:sshcommand|gitproxy|askpass|alternaterefscommand)`,
		`filter\..*\.(?:clean|smudge|process)`,
		`credential\.(?:.*\.)?helper`,
		`gpg\.(?:.*\.)?(?:program|defaultkeycommand)`,
		`remote\..*\.(?:uploadpack|receivepack|vcs)`,
		`protocol\.(?:.*\.)?allow`,
	}, "|") + `)$`)
})

// trusted returns the reason why the settings of the repository itself are not trusted, "" if they are. It reads the
// settings and runs nothing.
func (r repository) trusted(ctx context.Context) (string, error) {
	list, err := r.run(ctx, "", "config", "--list", "--includes", "--show-scope", "-z")
	if err != nil {
		return "", err
	}
	fields := strings.Split(list, "\x00") // a scope and an entry in turn
	for i := 0; i+1 < len(fields); i += 2 {
		key, _, _ := strings.Cut(fields[i+1], "\n")
		if scope := fields[i]; scope != "local" && scope != "worktree" || !running().MatchString(strings.ToLower(key)) {
			continue
		}
		return fmt.Sprintf("the repository has a setting of its own that runs a program: %s. Remove it, or move it to "+
			"your own configuration: git config --global", show.Within(key, 100)), nil
	}
	return "", nil
}
