//go:build unix && !linux

package command

import (
	"fmt"
	"syscall"
	"time"
)

// dying is the time that killed processes may need to end.
const dying = 10 * time.Second

// sweep kills the remaining processes of the group, until none is left. Processes that have left the group are not
// found here.
func (g *group) sweep() error {
	deadline := time.Now().Add(dying)
	for wait := time.Millisecond; ; wait = min(2*wait, 20*time.Millisecond) {
		if syscall.Kill(-g.pid, syscall.SIGKILL) != nil {
			return nil // there is none, or only dead ones
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the command has left processes in its group %d that cannot be killed", g.pid)
		}
		time.Sleep(wait)
	}
}
