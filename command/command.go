package command

import "context"

// Command is one command that is to run.
type Command struct {
	// Step is the id of the step that it is run for, "" outside of one.
	Step string
	// Words are the program and its arguments; for a script, "/bin/sh", "-c" and the script.
	Words []string
	// Shell means that the words are those of a script.
	Shell bool

	// Root is the tree, an absolute path: the command may write there. If it is "", the command runs in Temp.
	Root string
	// Dir is where the command starts, an absolute path in Root; "" is Root itself.
	Dir string
	// Temp and Home are absolute paths of directories for TMPDIR and HOME. "" is a private empty one, which is removed
	// when the command has ended.
	Temp, Home string
	// Shared is the absolute path of the directory that the steps of a run share, "" for none.
	Shared string

	// Env is what the step sets. For [Policy].Check and a [Runner] it is the whole environment.
	Env map[string]string
	// Stdin is what the command reads. A command that does not read it is not waited for.
	Stdin string

	// Read, Write and Network are what the policy leaves open, beside the directories above. Run fills them, for a
	// [Runner].
	Read, Write []string
	Network     bool

	// MaxOutput is how much is kept of each stream, in bytes; 0 is 1 MiB, and never more than the policy's.
	MaxOutput int64
	// OnOutput gets what the command prints while it runs; nil is none. The stream is "stdout" or "stderr". A text is
	// at most 32 KiB of valid UTF-8, secrets masked. It is never called twice at once, and not after Run has returned;
	// the command waits while it runs. A panic in it ends the command.
	OnOutput func(stream, text string)
}

// Exit is how a command has ended.
type Exit struct {
	// Code is the exit status, -1 if a signal has ended the command.
	Code int
	// Signal is the name of the signal that has ended the command, such as "SIGKILL", "" for none.
	Signal string
	// Stdout and Stderr are what it has printed.
	Stdout, Stderr Output
	// Sandbox is what was in force: "files" is "landlock 7", for example, and "network" "seccomp". nil is nothing.
	Sandbox map[string]string
	// Refused is what the sandbox has refused, if the command has failed and its output names that; nil otherwise.
	Refused *Refusal
}

// Refusal is what the sandbox has refused a command: a path, or the network. It is read from what the command has
// printed, so it is a help for people and nothing to decide by.
type Refusal struct {
	// Path is the absolute path of a file or directory that is there, "" for the network.
	Path string
	// Write is set if the command was to write there, and not only to read.
	Write bool
	// Home is set if the command looked for the path in its own HOME, which is empty, and the user's home has it.
	Home bool
	// Network is set if it was the network.
	Network bool
}

// String names the path or the network, and the field of the policy that gives it.
func (r Refusal) String() string {
	switch {
	case r.Network:
		return "the sandbox has no network: the host sets Network"
	case r.Home:
		return "the command has an empty HOME without '" + r.Path +
			"': the host passes HOME by PassEnv and adds the path to Read"
	case r.Write:
		return "the sandbox does not let the command write '" + r.Path + "': the host adds it to Write"
	}
	return "the sandbox does not let the command read '" + r.Path + "': the host adds it to Read"
}

// Output is what a command has printed on one stream.
type Output struct {
	// Text is what is kept: valid UTF-8, with U+FFFD for each invalid byte, and *** for secrets. If it is truncated,
	// it is the first quarter and the last three quarters of what may be kept, one after the other.
	Text string
	// Size is the number of bytes that were printed.
	Size int64
	// Truncated means that something between the two parts of Text is missing.
	Truncated bool
}

// Runner runs commands elsewhere than in a process of this system: in a container, in a control group, on another
// machine.
type Runner interface {
	// Run runs a command that the policy allows, in its directory and with exactly its environment, and returns when it
	// and everything that it has started is gone. Root, Temp, Home and Shared are directories of this system.
	//
	// It hands on what the command prints, in pieces of any size, to OnOutput if that is not nil, and returns the texts
	// of both streams, or their beginnings; what is too long is cut and secrets are masked afterwards. The exit status
	// is not an error. It returns soon after its context has ended. A panic in it is an error. It may be called from
	// several goroutines.
	Run(ctx context.Context, c Command) (Exit, error)
}
