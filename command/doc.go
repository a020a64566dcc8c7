// Package command runs programs for a pipeline under the rules of a host. The rules select the programs, their
// environment, the files that they may read and write, their duration, and how much output is kept.
//
// A [Policy] has these rules. The zero Policy runs nothing. A host lists the allowed programs:
//
//	commands := command.Policy{
//		Allow:   []string{"gofmt -l *", "gofmt -w *", "go vet *", "./scripts/check.sh"},
//		PassEnv: []string{"GOFLAGS"},
//		Secrets: map[string]string{"NPM_TOKEN": token},
//	}
//	x := millrace.Executor{Commands: commands}
//
// # The life of a command
//
// [Policy.Run] does the following, in this order. [Policy.Permit] does only the first step, so that a pipeline can be
// refused before it starts.
//
//  1. The command is checked against the policy: [Policy].Allow or Shell, then the names in its Env, then Check. The
//     program is looked up in the policy's PATH, and the sandbox that the policy requires must exist. A refused command
//     is a *[DeniedError]. An invalid policy is an error of the host, see [Policy.Valid].
//  2. Its environment is made from nothing: see below. Missing directories are created, private and empty.
//  3. It starts in a sandbox and in a process group of its own, or a [Runner] of the host starts it somewhere else.
//  4. Its output is read until it ends, never slower than it prints. Secrets become *** before anything else sees the
//     text, also where a secret comes in two writes. Of each stream the first quarter and the last three quarters of
//     MaxOutput bytes are kept, everything is counted. Beyond MaxPrinted bytes the command is killed, and
//     the code of the error is "limit".
//  5. When its context ends, its process group gets SIGTERM, and SIGKILL two seconds later. Then [Policy.Run] returns the
//     context's error, together with the [Exit] so far.
//  6. When the program has ended, in whatever way, everything that it has left running is killed. When Run returns, nothing
//     of it writes to the tree any more.
//
// A program that ran has an [Exit], and no exit status is an error.
//
// # How processes are found and killed
//
// A command has a session and a process group of its own, and a random value in its environment, MILLRACE_EXEC. On
// Linux, every process with any of the three is killed, even if it has left the group (setsid, daemons), and this is
// repeated until none is left. In the sandbox (amd64, arm64, from Linux 5.9) a process that has left the session and
// cleared its environment is found by a resource limit that it cannot change. Elsewhere it is not found. On other Unix
// systems only the process group is killed. On Windows all processes belong to a job object, which ends with the
// command.
//
// If the host itself is killed, Linux kills the program at once, and Windows the whole job. Remaining processes run
// until [Reap] is called: an executor calls it before it uses the tree of a killed run.
//
// # The environment
//
// A command does not see the host's environment. Its environment has these parts, each overriding those before it: PATH
// (its absolute entries) and LANG of the host, the variables named by PassEnv, EnvFor, Env, Secrets, and the step's
// variables named by StepEnv. HOME and TMPDIR are private, empty directories unless the policy sets them.
// GIT_CEILING_DIRECTORIES keeps git from finding a repository above the tree, MILLRACE_SHARED is the shared directory
// of the run's steps, if any, and MILLRACE_EXEC marks the command's processes.
//
// # The worth of the list of programs
//
// Allow states the purpose of a pipeline; it does not confine the pipeline. A host that allows "go test *", "make" or
// any shell allows any code in the tree, and the pipeline may write the tree. The sandbox protects: with [Required],
// which is the zero value, a command writes only to the tree and the directories given to it, reads what programs need
// and what [Policy].Read adds, and has no network.
//
// # Toolchains
//
// [Toolchains] extends a policy for the toolchains of a tree: Go, Node, Python, Rust, Java, .NET and Ruby, and programs
// that version managers have installed below the user's home. It runs no programs to find them.
//
// A Policy is a plain value. Its methods may be called concurrently, as long as its maps and lists do not change during
// the calls. Check, EnvFor and Runner are then called from several goroutines too.
package command
