package command

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
)

// sweep kills the remaining processes of the command, until none is left.
func (g *group) sweep() error {
	err := killAll(func(dir string, env []byte, pgrp, session int) bool {
		if pgrp == g.pid || session == g.pid || bytes.Contains(env, []byte(g.token)) {
			return true
		}
		pid, err := strconv.Atoi(filepath.Base(dir))
		return err == nil && g.mark.On(pid)
	})
	if errors.Is(err, errNoProc) {
		g.kill() // only the group can be killed
		return nil
	}
	if err != nil {
		return fmt.Errorf("the command has left processes: %w", err)
	}
	return nil
}

// Reap kills the remaining processes of commands that had root as their [Command].Root, after the program that ran them
// was killed itself and could not do so. The caller must be the only user of that tree. It works only on Linux, where
// processes are found by their environment, and ignores processes of other containers.
func Reap(root string) error {
	theirs := []byte(rootMark(root))
	err := killAll(func(dir string, env []byte, _, _ int) bool {
		for variable := range bytes.SplitSeq(env, []byte{0}) {
			if bytes.HasPrefix(variable, []byte(cookie+"=")) && bytes.Contains(variable, theirs) {
				return sameNamespaces(dir)
			}
		}
		return false
	})
	if errors.Is(err, errNoProc) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("commands of a run that was killed have left processes: %w", err)
	}
	return nil
}
