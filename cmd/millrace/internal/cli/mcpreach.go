package cli

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/millrace-go/millrace/cmd/millrace/internal/config"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/rundir"
)

// refuseConfig refuses a root with the configuration of the user in it, or with a link that leads there: it names
// programs that millrace runs. A root in which it is denied is served.
func (s *session) refuseConfig() error {
	user := config.UserDir()
	if user == "" {
		return nil
	}
	for at := filepath.Clean(user); ; at = filepath.Dir(at) {
		rel, err := treePath(s.root, s.root, realParent(at))
		if err == nil && rel != "." {
			if s.denies(rel) {
				return nil
			}
			return &usageError{fmt.Errorf(
				"the root %s has the configuration of the user in it, at %s, which names programs that millrace runs: "+
					"serve a directory of a project with --root, or deny it with --deny '%s'", s.root, rel, rel)}
		}
		if at == filepath.Dir(at) {
			return nil
		}
	}
}

// denies reports whether a glob of what is denied takes the path, or a directory above it.
func (s *session) denies(name string) bool {
	for ; name != "."; name = path.Dir(name) {
		for _, glob := range s.x.DeniedPaths {
			against := name
			if glob = strings.TrimPrefix(glob, "./"); !strings.Contains(glob, "/") {
				against = path.Base(name)
			}
			if ok, err := path.Match(glob, against); ok && err == nil {
				return true
			}
		}
	}
	return false
}

// runsDir returns the directory of runs that --store names: as a store takes it in the state directory of the tree, or
// an absolute one outside of the tree. Without the flag it is a directory for the tree in that of the configuration.
func (s *session) runsDir(name string) (string, error) {
	switch {
	case name == "" && s.config.RunsStore != "":
		sum := sha256.Sum256([]byte(s.root))
		name = filepath.Join(expanded(s.config.RunsStore), fmt.Sprintf("%s-%x", filepath.Base(s.root), sum[:6]))
	case name == "" || name == rundir.DefaultDir:
		return rundir.DefaultDir, nil
	}
	return s.storeDir(name)
}

// storeDir returns the directory of --store. It must not lie in the tree, by its name or by what that leads to.
func (s *session) storeDir(dir string) (string, error) {
	full := s.base(dir)
	refuse := func(why string) (string, error) { return "", &usageError{fmt.Errorf("--store %s: %s", dir, why)} }
	const inTree = "it must not lie in the tree, where agents can reach it"
	if fsutil.Within(full, s.root) || fsutil.Within(realParent(full), s.root) {
		return refuse(inTree)
	}
	if info, err := os.Lstat(full); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		real, err := filepath.EvalSymlinks(full)
		switch {
		case err != nil:
			return refuse("it is a link that leads nowhere")
		case fsutil.Within(real, s.root):
			return refuse(inTree)
		}
	}
	if err := os.MkdirAll(full, 0o700); err != nil {
		return "", &usageError{fmt.Errorf("--store: %w", err)}
	}
	return full, nil
}

// maxToken is how long the file of a token may be.
const maxToken = 4 << 10

// readToken returns the token of a file. The file may be a pipe, so its size is not asked for.
func readToken(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxToken+1))
	switch {
	case err != nil:
		return "", err
	case len(data) > maxToken:
		return "", fmt.Errorf("it is longer than %d bytes", maxToken)
	case bytes.IndexByte(data, 0) >= 0:
		return "", errors.New("it is not a text")
	}
	return strings.TrimSpace(string(data)), nil
}
