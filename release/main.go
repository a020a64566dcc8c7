// Command release prepares the commit of a version and serves it as a module proxy does. Only .ci/release and the step
// install of .ci/run call it.
//
//	release prepare DIR VERSION      changes go.mod and go.sum of the modules that are released, and adds them to git's index
//	release proxy DIR VERSION OUT    writes the modules of the commit HEAD into OUT, and checks the hashes in their go.sum
//	release tags VERSION             prints the tags of a version
//
// On the main branch the modules in directories replace each other by their directories, so that one commit can change
// several. "go install MODULE@VERSION" takes no go.mod with a replace. So the commit of a version has none: its modules
// require each other in that version, and their go.sum has the hashes that the go command computes from the tags. One
// commit can hold them all because the zip file of a module leaves out those in directories below it.
package main

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/mod/semver"
)

// module is the path of the library. The paths of the other modules begin with it.
const module = "github.com/millrace-go/millrace"

// released are the directories of the modules that have tags, each after those that it requires. "" is the library.
var released = []string{"", "yamlform", "gocode", "mcpserver", "cmd/millrace"}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) == 3 && args[0] == "prepare":
		return inVersion(args[2], func(version string) error { return prepare(args[1], version) })
	case len(args) == 4 && args[0] == "proxy":
		return inVersion(args[2], func(version string) error { return writeProxy(args[1], version, args[3]) })
	case len(args) == 2 && args[0] == "tags":
		return inVersion(args[1], func(version string) error {
			for _, dir := range released {
				fmt.Println(tag(dir, version))
			}
			return nil
		})
	}
	return errors.New("usage: release prepare DIR VERSION | release proxy DIR VERSION OUT | release tags VERSION")
}

func inVersion(version string, do func(string) error) error {
	if version == "" || semver.Canonical(version) != version || semver.Build(version) != "" {
		return fmt.Errorf("%q is not a version: write vX.Y.Z, or vX.Y.Z-rc.1", version)
	}
	if major := semver.Major(version); major != "v0" && major != "v1" {
		return fmt.Errorf("from v2 on, the paths of the modules end with /%s, which they do not", major)
	}
	return do(version)
}

// tag is what the go command looks for in the repository.
func tag(dir, version string) string {
	if dir == "" {
		return version
	}
	return dir + "/" + version
}

// pathOf is the path of the module in a directory.
func pathOf(dir string) string {
	if dir == "" {
		return module
	}
	return module + "/" + dir
}
