package command

import (
	"cmp"
	"context"
	"fmt"
	"time"
)

// The default limits of a policy.
const (
	defaultTimeout          = 10 * time.Minute
	defaultMaxOutput        = 1 << 20
	defaultMaxPrinted int64 = 256 << 20
)

// Sandbox selects whether a command needs a sandbox.
type Sandbox uint8

const (
	// Required refuses every command if the system cannot confine it. It is the zero value.
	Required Sandbox = iota
	// BestEffort confines a command as far as the system can, which may be not at all.
	BestEffort
	// Off confines nothing: the command can do what the host can.
	Off
)

// String returns "required", "best effort" or "off".
func (s Sandbox) String() string {
	switch s {
	case Required:
		return "required"
	case BestEffort:
		return "best effort"
	case Off:
		return "off"
	}
	return "unknown"
}

// Policy is the host's rules for commands. The zero Policy allows none.
type Policy struct {
	// Allow are patterns of command lines, word for word: "gofmt -l *". A * at the end of the pattern, as a separate word,
	// matches any further words, or none; any other * matches any text within one word. Text between ' is literal, with ''
	// for a ' in it; [Pattern] returns this form of a command line.
	//
	// The first word is the program: a name, which is looked up in the policy's PATH; ./x, a file of the tree, relative to
	// its root; or an absolute path. A * in it does not match a slash. A command may name a program that is found by name
	// by its absolute path. An empty list allows no program; "*" allows every program by name, "./* *" every file in the
	// root of the tree.
	Allow []string
	// Shell allows commands to be scripts for /bin/sh. A script needs no entry in Allow, and the programs that it calls
	// are not checked against Allow: with Shell, a pipeline may run everything.
	Shell bool
	// Check is a second check for each command that Allow or Shell has accepted, nil for none. It receives the command
	// with its whole environment, including secrets. An error refuses the command and is the reason; so is a panic. It is
	// called before a pipeline begins, if the words of the command are known then, and again before the command starts.
	Check func(ctx context.Context, c Command) error

	// Env is set for every command.
	Env map[string]string
	// PassEnv names variables of the host's environment for commands; PATH and LANG are always passed.
	PassEnv []string
	// StepEnv names the variables that the env of a step may set. Names that decide which programs run are never allowed:
	// PATH, HOME, and those that begin with LD_, DYLD_, GIT_ or MILLRACE_.
	StepEnv []string
	// Secrets is set for every command like Env, and its values become *** in everything that comes back: output, events,
	// errors, warnings. Values shorter than 4 bytes are not hidden. White space around a value is ignored, and the JSON
	// form of a value is hidden as well. If a value has several lines, each line of at least 8 bytes is also hidden alone.
	// A secret that a command has changed, for example to base64, is not recognized and not hidden. The files that a
	// command writes, and their names, are not masked.
	Secrets map[string]string
	// EnvFor returns variables for a single command, a trace parent for example; nil for none. Env overrides them. It is
	// called with the context of the command, also by Permit. It cannot set PATH. If it panics, the command does not
	// start.
	EnvFor func(ctx context.Context) map[string]string

	// Read are absolute paths that commands may read and execute in the sandbox, with everything below them, in addition
	// to the tree and the system directories /usr, /bin, /sbin, /lib, /etc, /opt, /nix, /proc and /sys. In /dev only null,
	// zero, full, random, urandom and tty are readable, because a disk is a device, too.
	Read []string
	// Write are absolute paths of files and directories outside of the tree that commands may read and write in the
	// sandbox. A command can poison caches that it shares with the host, so give commands separate caches.
	Write []string
	// Network allows commands to use IPv4 and IPv6. Without it, the sandbox refuses all sockets except connected pairs.
	// Unix sockets are always refused: a service of the system could start programs outside of the sandbox.
	Network bool
	// Sandbox decides whether a command may run if it cannot be confined.
	Sandbox Sandbox

	// Scratch is the directory for trees of commands, "" for the user's cache directory. It must be outside of the tree.
	// Temporary directories of commands are created in it too; with "" they are in the system's directory.
	Scratch string
	// KeepScratch keeps the tree of commands for the next run, which then copies only changes.
	KeepScratch bool
	// MaxTimeout is the longest and the default time that a command may run; 0 is 10 minutes.
	MaxTimeout time.Duration
	// MaxOutput is the number of bytes kept of each stream; 0 is 1 MiB.
	MaxOutput int64
	// MaxPrinted is the number of bytes that a command may print on both streams together; 0 is 256 MiB. A command that
	// prints more is killed.
	MaxPrinted int64
	// MaxChangedFiles is the number of files that one command may change; 0 is 10,000.
	MaxChangedFiles int
	// MaxScratchFiles is the number of files that a tree for commands may have; 0 is 500,000.
	MaxScratchFiles int
	// MaxScratchBytes is the number of bytes that a tree for commands may have; 0 is 8 GiB.
	MaxScratchBytes int64

	// Runner runs commands in place of this package, in a container for example; nil for none. It is then responsible for
	// the sandbox, and for limits of memory and processor time.
	Runner Runner
}

// Timeout returns the longest and the default time that a command may run.
func (p Policy) Timeout() time.Duration { return cmp.Or(p.MaxTimeout, defaultTimeout) }

// Format prints a policy like package fmt, with *** for the values of its secrets.
func (p Policy) Format(state fmt.State, verb rune) {
	type plain Policy
	shown := plain(p)
	shown.Secrets = make(map[string]string, len(p.Secrets))
	for name := range p.Secrets {
		shown.Secrets[name] = stars
	}
	_, _ = fmt.Fprintf(state, fmt.FormatString(state, verb), shown)
}
