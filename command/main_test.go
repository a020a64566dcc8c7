package command_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/command"
)

// TestMain makes the test binary usable as a command: with "act" as its first argument it runs the act named by the
// others.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "act" {
		os.Exit(act(os.Args[2], os.Args[3:]))
	}
	os.Exit(m.Run())
}

// act runs an act of a command.
func act(what string, args []string) int {
	switch what {
	case "exit":
		code, _ := strconv.Atoi(args[0])
		return code
	case "cat":
		_, _ = io.Copy(os.Stdout, os.Stdin)
	case "env":
		for _, entry := range os.Environ() {
			fmt.Println(entry)
		}
	case "echo":
		fmt.Println(strings.Join(args, "|"))
	case "args":
		fmt.Println(len(args))
	case "print": // a number of bytes of a repeated text
		n, _ := strconv.ParseInt(args[0], 10, 64)
		chunk := []byte(strings.Repeat(args[1], 1+64<<10/len(args[1])))
		for n > 0 {
			part := chunk[:min(n, int64(len(chunk)))]
			if _, err := os.Stdout.Write(part); err != nil {
				return 1
			}
			n -= int64(len(part))
		}
	default:
		return actOn(what, args)
	}
	return 0
}

// self returns the test binary, and the entry of Allow for it.
func self(t testing.TB) (program, allow string) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if program, err = filepath.EvalSymlinks(program); err != nil {
		t.Fatal(err)
	}
	return program, command.Pattern(program) + " *"
}

// acting returns a policy that allows the test binary and scripts, without a sandbox.
func acting(t testing.TB) command.Policy {
	t.Helper()
	_, allow := self(t)
	return command.Policy{Allow: []string{allow}, Shell: true, Sandbox: command.Off, Scratch: t.TempDir()}
}

// an returns a command for an act of the test binary.
func an(t testing.TB, words ...string) command.Command {
	t.Helper()
	program, _ := self(t)
	return command.Command{Words: append([]string{program, "act"}, words...)}
}

// script returns a command of the shell.
func script(text string) command.Command {
	return command.Command{Words: []string{"/bin/sh", "-c", text}, Shell: true}
}

// run runs a command that must not fail.
func run(t testing.TB, p command.Policy, c command.Command) command.Exit {
	t.Helper()
	exit, err := p.Run(t.Context(), c)
	if err != nil {
		t.Fatalf("%q: %v (%.1000v)", c.Words, err, exit)
	}
	return exit
}

// runs is a Runner that is a function.
type runs func(ctx context.Context, c command.Command) (command.Exit, error)

func (f runs) Run(ctx context.Context, c command.Command) (command.Exit, error) { return f(ctx, c) }

// elsewhere returns a policy that allows everything to a Runner.
func elsewhere(f runs) command.Policy {
	return command.Policy{Allow: []string{"* *", "./* *"}, Shell: true, Runner: f}
}
