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

	"github.com/bmatcuk/doublestar/v4"

	"github.com/millrace-go/millrace/cmd/millrace/internal/config"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/rundir"
)

// refuseConfig refuses a root that contains the user's configuration, or a link to it, because the configuration names
// programs that millrace runs. A root is served if the configuration is denied in it.
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

// denies reports whether a glob of denied paths matches the path, or a directory above it.
func (s *session) denies(name string) bool {
	for ; name != "."; name = path.Dir(name) {
		for _, glob := range s.x.DeniedPaths {
			against := name
			if glob = strings.TrimPrefix(glob, "./"); !strings.Contains(glob, "/") {
				against = path.Base(name)
			}
			if ok, err := doublestar.Match(glob, against); ok && err == nil {
				return true
			}
		}
	}
	return false
}

// runsDir returns the directory of runs for --store: in the form for a store in the state directory of the tree, or an
// absolute path outside the tree. Without the flag it is a directory for the tree below that of the configuration.
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

// storeDir returns the directory of --store. It must not be in the tree, not even through a link.
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

// maxToken limits the size of the file of a token.
const maxToken = 4 << 10

// readToken returns the token in a file. The file may be a pipe, so its size is not checked.
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
