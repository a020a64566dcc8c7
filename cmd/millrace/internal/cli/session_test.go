package cli_test

import (
	"regexp"
	"strings"
	"testing"
)

// Ids and times differ in each run.
var (
	commitID = regexp.MustCompile(`\b\d{8}_\d{6}_[0-9a-f]{16}\b`)
	moment   = regexp.MustCompile(`\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)
)

// replay runs each command of a session, a line that begins with "$ ", and returns the session with the new output. An
// output that differs only in ids and times is not changed.
func replay(t *testing.T, home, dir, session string) string {
	t.Helper()
	var now strings.Builder
	for line := range strings.Lines(session) {
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			out, _ := tryShell(t, home, dir, command) // the output shows a failure
			now.WriteString(line + out)
		}
	}
	if steady(session) == steady(now.String()) {
		return session
	}
	return now.String()
}

func steady(session string) string {
	return moment.ReplaceAllString(commitID.ReplaceAllString(session, "ID"), "TIME")
}
