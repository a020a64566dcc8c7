package commands_test

import (
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
)

// Files that a command leaves in its tree, such as .gitignore files, do not disturb the next command.
func TestNotInTheWay(t *testing.T) {
	t.Parallel()
	for name, mess := range map[string]string{
		"too many rules": `head -c 2000000 /dev/zero | tr '\0' x > .gitignore`,
		"no rights":      `mkdir -p q/r; echo x > q/r/s; chmod 0 q/r/s q/r q .`,
		"no file":        `mkdir .gitignore CVS; mkfifo CVS/.gitignore; touch CVS/Entries CVS/Repository`,
	} {
		x, fsys := host(t), memory()
		run(t, x, fsys, millrace.New("p").
			Step("leaves", actions.Exec{Shell: mess, Discard: true}).
			Step("fails", script(mess+"; exit 1")).OnFail("works").
			Step("works", script("ls -A > list")).
			MustBuild())
		if got := text(t, fsys, "list"); got != "a.txt\nd\nlist\n" {
			t.Errorf("%s: it has seen %q", name, got)
		}
	}
}
