//go:build unix

package command_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
	"time"
)

// actOn does what only Unix has.
func actOn(what string, args []string) int {
	switch what {
	case "linger": // leaves a pid in a file, prints that it is there, and stays
		mark(args[0])
		fmt.Println("there")
		stay()
	case "deaf": // as linger, but SIGTERM is not heard
		signal.Ignore(syscall.SIGTERM)
		mark(args[0])
		fmt.Println("there")
		stay()
	case "mute": // as linger, with nothing open
		mark(args[0])
		fmt.Println("there")
		for fd := range 3 {
			_ = syscall.Close(fd)
		}
		stay()
	case "leave": // starts a child with these words in the way that is said first, and goes when it is there
		return leave(args[0], args[1], args[2:])
	case "bomb": // starts itself in sessions of its own, again and again, so many at most
		n, _ := strconv.Atoi(args[0])
		for range n {
			_ = again(true, nil, "act", "bomb", strconv.Itoa(n-1), args[1]).Start()
		}
		mark(args[1])
		stay()
	case "dial":
		conn, err := net.Dial("tcp", args[0])
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		_ = conn.Close()
	case "father": // has a child in a session of its own, and stays
		if leave("s", args[0], []string{"deaf", args[0]}) == 0 {
			fmt.Println("there")
		}
		stay()
	case "host": // runs a command as a host does
		return host(args[0], args[1:])
	}
	return 0
}

func stay() {
	for {
		time.Sleep(time.Hour)
	}
}

// mark adds the pid of this process to a file.
func mark(file string) {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, _ = fmt.Fprintln(f, os.Getpid())
		_ = f.Close()
	}
}

// again is the test binary once more, perhaps in a session of its own.
func again(session bool, env []string, args ...string) *exec.Cmd {
	program, _ := os.Executable()
	cmd := exec.Command(program, args...)
	cmd.Env = env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: session}
	return cmd
}

// leave starts a process and does not wait for it. The ways are letters: s a session of its own, g a group of its own,
// e an empty environment, o the output stays open.
func leave(ways, file string, args []string) int {
	var env []string
	attributes := &syscall.SysProcAttr{}
	cmd := again(false, nil, append([]string{"act"}, args...)...)
	for _, way := range ways {
		switch way {
		case 's':
			attributes.Setsid = true
		case 'g':
			attributes.Setpgid = true
		case 'e':
			env = []string{"NOTHING=1"}
		case 'o':
			cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		}
	}
	cmd.SysProcAttr, cmd.Env = attributes, env
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	for {
		if _, err := os.Stat(file); err == nil {
			return 0
		}
		time.Sleep(time.Millisecond)
	}
}
